//! What a watch without a history has in its place: counts of periods, and a queue of requests in
//! memory. The counts are those that a watch with a history exports of the same probes.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod outbox;
mod periods;

pub use outbox::{News, Outbox, Packed};
pub use periods::{Counted, PeriodConfig, Periods};

/// Nanoseconds per millisecond, the unit of the times of points.
const NANOS_PER_MILLI: u64 = 1_000_000;
