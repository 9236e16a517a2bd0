//! A watch without a history: probes hosts, and sends their counts to a receiver, by Prometheus
//! remote-write 1.0 or OTLP over plain HTTP.
//!
//! Requests wait in memory while the receiver is away. A thread sends them, so that no probe waits.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod destination;
mod http;
mod poster;
mod resolver;
mod watch;

pub use destination::{Destination, PostFormat};
pub use poster::Poster;
pub use watch::{WatchEvent, WatchSettings, watch};
