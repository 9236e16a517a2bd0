//! Probe and load protocols without I/O
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod plan;
mod schedule;

pub use plan::{PhasePlan, ProbeKind};
pub use schedule::{BytesPerRound, round_bytes};
