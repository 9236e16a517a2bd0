//! Finds the rate to shape a line to. [`knee`] finds the highest rate that keeps the line's queue
//! empty, [`fix`] is the complete procedure around it, and [`autorate`] follows a line with a
//! variable rate: LTE, Starlink, cable in the evening.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod autorate;
mod codel;
pub mod fix;
mod framing;
pub mod knee;
pub mod overhead;

pub use codel::{Codel, codel};
pub use framing::Framing;

use fathom_units::{Bytes, ETHERNET_FULL_FRAME};

/// Full-size Ethernet packet without checksum, as Linux counts it.
const FULL_FRAME: Bytes = ETHERNET_FULL_FRAME;
