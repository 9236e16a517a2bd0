//! At which rate a line is shaped. [`knee`] finds the highest rate that keeps the line's queue empty, [`fix`] is the whole fix around it,
//! and [`autorate`] follows a line whose rate varies: LTE, Starlink, cable in the evening.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod autorate;
pub mod fix;
pub mod knee;
pub mod overhead;

use fathom_units::{Bytes, ETHERNET_FULL_FRAME};

/// A full packet of Ethernet without its checksum, as Linux counts it.
const FULL_FRAME: Bytes = ETHERNET_FULL_FRAME;
