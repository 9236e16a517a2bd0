//! Sends the counts of a watch without a history to a receiver: Prometheus remote-write 1.0 or
//! OTLP, over plain HTTP.
//!
//! Requests wait in memory while the receiver is away. A thread sends them, so that no probe waits.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod destination;
mod http;
mod poster;

pub use destination::{Destination, PostFormat};
pub use poster::Poster;
