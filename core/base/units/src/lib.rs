//! Quantities with units: [`Time`], [`Duration`], [`Rate`], [`Bytes`], [`Ratio`]; their text forms; the two
//! [`Direction`]s of a path; and a seeded [`Rng`].
//!
//! The text forms are those of `tc(8)`, so that one spelling works in `tc`, in scenario files, on the
//! command line and in the documentation. A number without a unit is refused, never guessed.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod direction;
mod parse;
mod quantity;
mod rng;
mod time;

pub use direction::{Direction, NoDirection, PerDirection};
pub use parse::UnitError;
pub use quantity::{Bytes, Rate, Ratio};
pub use rng::Rng;
pub use time::{Duration, NoWallTime, Time, WallTime};
