//! What a capture shows, in the formats that other tools made and people's scripts read: graphs for
//! xplot and the table of columns as tcptrace writes them, Tstat's `log_tcp_complete`, pping's
//! lines, and qlog for qvis.
//!
//! Each writes as it goes. Those of packets ([`Xplot`], [`Pping`], [`Qlog`]) are a
//! [`fathom_flow::Sink`]; those of flows ([`tcptrace_csv`], [`Tstat`]) render
//! [`fathom_flow::Flows`]. The names and the places of columns are those of the tools; where a
//! number is deliberately another, the documentation of the format says so.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod files;
mod name;
mod number;
mod per_flow;
mod pping;
mod qlog;
mod tcptrace;
mod tstat;
mod xplot;

pub use files::Files;
pub use pping::Pping;
pub use qlog::Qlog;
pub use tcptrace::tcptrace_csv;
pub use tstat::Tstat;
pub use xplot::{Graphs, Xplot};
