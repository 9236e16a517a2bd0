//! `fathom serve`: the test server, the remote endpoint of `fathom test`. The protocol is described
//! in `docs/protocol.md`.
//!
//! ```text
//!  front thread    accepts; first lines and HTTP of all connections, non-blocking, in one loop
//!    |-- session thread, one a session: control connection (Fathom or iperf3), reports,
//!    |                   limits, probes of hops
//!    `-- flow thread, one a load flow: blocking sendfile or discarding recv
//!  echo threads    UDP probes, at high priority: of Fathom, irtt and STAMP, one thread each
//!  web threads     clients of web servers (`web.rs`): asynchronous, one task a connection or stream
//! ```
//! Anything that strangers can do (connect, send a first line, HTTP) uses no thread; whatever uses
//! a thread needs a session. Connections of strangers, sessions, and the flows of each session are
//! limited separately, so that none of them can use up the others. `shares.rs` says who may hold
//! how many.
#![deny(missing_docs)]

mod bursts;
mod config;
mod connection;
mod control;
mod datagrams;
mod echo;
mod event;
mod flow;
mod front;
mod hops;
mod host_rate;
mod http;
mod iperf3;
mod irtt;
mod limited;
mod listen;
mod load;
mod metrics;
mod quota;
mod server;
mod session;
mod shared;
mod shares;
mod stamp;
mod stats;
mod sync;
#[cfg(feature = "web")]
mod web;

#[cfg(feature = "web")]
pub use config::WebConfig;
pub use config::{Config, ServerError};
pub use event::{Event, SessionEnd};
pub use fathom_protocol::iperf3::DEFAULT_PORT as IPERF3_PORT;
pub use fathom_protocol::irtt::DEFAULT_PORT as IRTT_PORT;
pub use fathom_protocol::stamp::DEFAULT_PORT as STAMP_PORT;
pub use server::Server;
pub use stats::{Refusal, Stats};
