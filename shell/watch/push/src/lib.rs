//! Sends the measurements of a watch to other systems: Prometheus remote-write 1.0 and 2.0, OTLP
//! over HTTP.
//!
//! **The history is the queue.** Each destination has a cursor, stored in a file next to the
//! history, with the time up to which data was sent and the cumulative counts. New data is read
//! from the history, so an outage of the receiver loses nothing, a restart resumes, and nothing is
//! stored twice. Each destination has its own thread and delays no probe.
//!
//! A point counts the probes that were *sent* before its time. It is transmitted when all of them
//! have an outcome: after the longest timeout and the seconds until samples are on disk (`settle`).
//! An answer that arrives later was already counted as lost and stays so at the receiver, because
//! counters cannot decrease: by default, the loss there includes probes answered after their
//! timeout. `settle = "20min"` delays everything by twenty minutes and counts every late answer as
//! late.

mod cursor;
mod destination;
mod feed;
mod lines;
mod post;
mod progress;
mod pusher;
mod role;
mod routers;
mod sender;

pub use destination::{Destination, DestinationError, Gateway, KeySource};
pub use progress::{Progress, progress};
pub use pusher::Pusher;
pub use role::Names;
pub use routers::Routers;
pub use sender::Note;
