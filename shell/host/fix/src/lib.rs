//! The closed loop: measure, find the knee, shape, verify with another measurement, or roll back.
//!
//! [`fix`] drives the state machine of [`fathom_shape::fix`] on a real interface and a real server:
//! it runs the tests that the machine requests, applies and removes shapers, and saves trials on
//! disk. It makes no decisions. [`auto`] instead continuously adjusts the rates on a variable-rate
//! link, without generating load.
//!
//! Whatever ends the program, the watchdog of `fathom_shaper` restores the interface.
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
