//! `fathom serve`: the test server, the remote endpoint of `fathom test`. The protocol is described
//! in `docs/protocol.md`.
//!
//! ```text
//!  front thread    accepts; first lines and HTTP of all connections, non-blocking, in one loop
//!    |-- session thread, one a session: control connection, reports, limits
//!    `-- flow thread, one a load flow: blocking sendfile or discarding recv
//!  echo thread     UDP probes, at high priority
//! ```
//! Anything that strangers can do (connect, send a first line, HTTP) uses no thread; whatever uses
//! a thread needs a session.
#![deny(missing_docs)]

mod config;
mod connection;
mod control;
mod echo;
mod flow;
mod front;
mod http;
mod listen;
mod load;
mod server;
mod session;
mod shared;
mod stats;
mod sync;

pub use config::{Config, ServerError};
pub use server::Server;
pub use stats::{Refusal, Stats};
