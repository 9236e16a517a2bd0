//! At which rate a line is shaped. [`knee`] finds the highest that keeps the line's queue empty; [`autorate`] keeps a line right whose rate varies: LTE, Starlink, cable in the evening.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod autorate;
pub mod fix;
pub mod knee;
pub mod overhead;

use fathom_units::Bytes;

/// A full packet of Ethernet without its checksum, as Linux counts it.
const FULL_FRAME: Bytes = Bytes(1514);
