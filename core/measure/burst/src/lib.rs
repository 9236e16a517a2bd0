//! What bursts of datagrams show about the queue that they fill: the rate of the link, the size of
//! the buffer and what it counts, and how it drops.
//!
//! [`Response`] is that to one burst, [`estimate`] combines those of several sizes.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod estimate;
mod plan;
mod response;
mod rule;

pub use estimate::{Buffer, estimate, estimate_tail_drop};
pub use plan::{BurstPlan, BurstPlanner, LEAST_BUDGET, MOST_DATAGRAMS, PAYLOAD_BYTES};
pub use response::{Response, waits};
