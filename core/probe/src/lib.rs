//! Probe and load protocols without I/O: the book of probes, their schedule, clocks, and when a phase is over.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod book;
mod clock;
mod plan;
pub mod protocol;
mod schedule;
mod stamp;

pub use book::{Answer, Book};
pub use clock::{ClockFit, ClockSamples, FourStamps};
pub use plan::{PhasePlan, ProbeKind};
pub use schedule::{BytesPerRound, Due, Schedule, round_bytes};
pub use stamp::StampConverter;
