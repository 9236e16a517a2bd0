//! Sends what a watch has measured to others: Prometheus remote-write 1.0 and 2.0, OTLP over HTTP.
//!
//! **The history is the queue.** A destination has a cursor, which is a file beside the history: up to when all was sent, and what was
//! counted until then. What came since is read from the history, so that an outage of the far end loses nothing that the history
//! has, a restart goes on where it stopped, and nothing is stored twice. Each destination has a thread of its own; none holds up a probe.
//!
//! A point counts the probes that were *sent* before its time. It leaves when all of them have their outcome: after the longest timeout
//! and the seconds until they are on the disk (`settle`). An answer that comes later still has been counted as lost by then, and
//! stays so at the far end, as counters cannot go back: with the default, the loss shown there is too high by what is answered
//! after its timeout. `settle = "20min"` sends all twenty minutes later and counts every late answer as late.

mod cursor;
mod destination;
mod feed;
mod lines;
mod post;
mod progress;
mod pusher;
mod role;
mod sender;

pub use destination::{Destination, DestinationError};
pub use progress::{Progress, progress};
pub use pusher::Pusher;
pub use role::Names;
pub use sender::Note;
