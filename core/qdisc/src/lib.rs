//! Queue disciplines: one body of code for the simulator, the lab and the tests against hand-written time lines.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod contract;

pub use contract::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
