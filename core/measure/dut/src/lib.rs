//! Tests of a switch, the device under test (DUT) of RFC 2544: which frames to send from port to
//! port, and what their arrivals show: delay, loss, buffers, head-of-line blocking.
//!
//! [`Planner`] gives the [`Traffic`] of each test and takes its [`Record`]. It owns no clock and no
//! sockets.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod judge;
mod plan;
mod record;
mod series;
mod traffic;

pub use fathom_burst::{Sent, Tail};
pub use plan::{InPort, Outcome, Planner, Setup, Step, Trouble};
pub use record::{Record, StreamRecord};
pub use traffic::{Pattern, Schedule, StreamPlan, Traffic};
