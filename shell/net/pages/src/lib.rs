//! Tests by browsers: their probes, their load, and their results. The server that owns the sockets
//! passes datagrams and requests on.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod channel;
mod files;
mod flow;
mod offer;
mod results;
mod runner;
mod test;

pub use files::{File, HAS_SITE, SITE, file};
pub use flow::Flow;
pub use results::{Judge, Judged, Outcome};
pub use runner::{Pages, PagesError};
pub use test::{Begin, Test, TestId};
