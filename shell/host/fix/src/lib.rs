//! The closed loop: measure, find the knee, shape, prove by measuring that it worked, or put everything back.
//!
//! ```text
//!  baseline          idle, up, down: is there anything to fix, and how fast is the line?
//!  overhead          loads of two packet sizes: what does a packet take beyond IP?
//!  search            a shaper for the time of the search; load behind it at one rate after the other: where does delay begin?
//!  attempt           the shaper at the knee less a margin; idle, up, down, both again: every predicate holds, or the next margin
//!  commit | restore  it stays, or the interface is as it was
//! ```
//! [`auto`] instead keeps the rates of a line right that varies, without any load of its own.
//!
//! Whatever ends the program on the way, the guard of `fathom_shaper` puts the interface back.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod auto;
mod beside;
mod budget;
mod course;
mod margin;
mod memory;
mod proof;
mod search;
mod sizes;
mod watch;

pub use budget::Budget;
pub use course::{FixConfig, FixError, Fixed, Outcome, Tell, fix};
pub use margin::MARGINS;
pub use memory::of_trial;
pub use proof::{Check, Proof};
