//! Whether ECN survives on a path: which probes to send, and which hop changes or drops them.
//!
//! [`EcnTest`] gives the packets to send and takes the packets that arrive. Probes that expire at a
//! router return in its ICMP error, with the ECN field that they had there. So the change is
//! between the last router that quotes the sent value and the first that does not. [`judge`] says
//! no more than that. It owns no clock and no sockets.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod codec;
mod data;
mod evidence;
mod judge;
mod machine;
mod probe;

pub use codec::{Quote, Received, Route, read};
pub use evidence::{Evidence, FromHost, Point, Tally};
pub use judge::{Fate, Finding, Place, Report, Summary, judge};
pub use machine::{Action, EcnTest};
pub use probe::{Class, EcnFlags, Handshake, PROBES, Probe};
