//! Imports from other monitors: SmokePing's configuration, and the round-robin databases of its
//! history.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod rrd;
pub mod smokeping;
