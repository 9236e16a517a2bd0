//! What bursts of datagrams show about the queue that they fill: the rate of the link, the size of
//! the buffer and what it counts, and how it drops.
//!
//! [`Response`] is that to one burst, [`estimate`] combines those of several sizes, and
//! [`echo_path`] says where echo requests and their replies waited.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod codel;
mod echo;
mod estimate;
mod marks;
mod plan;
mod response;
mod rule;
mod series;
mod tail;

pub use echo::{EchoPath, echo_path};
pub use estimate::{Buffer, estimate, estimate_tail_drop};
pub use marks::marks;
pub use plan::{BurstPlan, BurstPlanner, LEAST_BUDGET, MOST_DATAGRAMS, PAYLOAD_BYTES};
pub use response::{Response, responses, waits};
pub use tail::{Sent, Tail};
