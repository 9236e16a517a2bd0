//! The closed loop: measure, find the knee, shape, verify by measuring that it worked, or roll back.
//!
//! [`fix`] drives the machine of [`fathom_shape::fix`] over a real interface and a real server: it runs the tests that the machine asks
//! for, puts shapers on and takes them off, and keeps trials on disk. It decides nothing. [`auto`] instead keeps adjusting the rates on a
//! line that varies, without any load of its own.
//!
//! Whatever ends the program on the way, the watchdog of `fathom_shaper` restores the interface.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod auto;
mod config;
mod driver;
mod input;
mod recording;
mod trials;

pub use config::{FixConfig, FixError, Fixed, Progress};
pub use driver::fix;
