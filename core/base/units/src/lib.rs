//! Quantities with units: [`Time`], [`Duration`], [`Rate`], [`Bytes`], [`Ratio`], and their text
//! forms; the two [`Direction`]s of a path; and a seeded [`Rng`].
//!
//! Text uses the units of `tc(8)`, so the same spelling works in `tc`, scenario files, the command
//! line and the documentation. The forms printed for people (`375 kB`, `20.0 Mbit/s`) are accepted,
//! too. A number without a unit is rejected, never guessed.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod date;
mod direction;
mod dscp;
mod ecn;
mod frame;
mod parse;
mod quantity;
mod rng;
mod time;

pub use date::Date;
pub use direction::{Direction, NoDirection, PerDirection};
pub use dscp::dscp_of_name;
pub use ecn::Ecn;
pub use frame::{
    ETHERNET_FULL_FRAME, ETHERNET_PER_PAYLOAD, FULL_IP_PACKET, FULL_TCP_PAYLOAD, IP_PER_PAYLOAD,
};
pub use parse::UnitError;
pub use quantity::{Bytes, Rate, Ratio};
pub use rng::Rng;
pub use time::{Duration, NoWallTime, Time, WallTime};
