//! When a watch tests its line: at a random moment of each interval, within a budget of bytes per
//! month, and while nobody else uses the line.
//!
//! Time is an argument, and [`Ledger`] is all that must be kept over a restart.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod busy;
mod due;
mod ledger;

pub use busy::{Busy, Lows, busy};
pub use due::{Due, LeftOut, Schedule};
pub use ledger::Ledger;
