//! Probe and load protocols without I/O: the book of probes, their schedule, clocks, and when a phase is over.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod answers;
mod book;
mod clock;
mod day_clock;
mod echo;
mod one_way;
mod phase;
mod plan;
pub mod protocol;
mod schedule;
mod stamp;
mod watch;

pub use answers::Answers;
pub use book::{Answer, Book};
pub use clock::{ClockFit, ClockSamples, FourStamps};
pub use day_clock::{DAY_CLOCK_BYTES, DayClock, DayClockSession};
pub use echo::{ECHO_BYTES, EchoSession, IcmpVersion};
pub use one_way::{UdpAnswer, one_way_series};
pub use phase::{Baseline, PhaseControl};
pub use plan::{PhasePlan, ProbeKind};
pub use schedule::{BytesPerRound, Due, Schedule, round_bytes};
pub use stamp::StampConverter;
pub use watch::{CpuReading, CpuShare, SelfWatch};
