//! The use cases of Fathom. Each is a function from a typed request to a result, and reports its
//! progress as events.
//!
//! This crate prints nothing, ends no process and keeps no global state. The caller can cancel a
//! use case with a [`CancelToken`], and decides how to show events, results and [`AppError`]s.
//!
//! Without the feature `full` it holds only what `fathom demo` needs.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "full")]
pub mod audit;
#[cfg(feature = "full")]
pub mod buffer;
mod cancel;
#[cfg(feature = "full")]
pub mod counterfactual;
pub mod demo;
#[cfg(feature = "full")]
pub mod doctor;
#[cfg(feature = "full")]
pub mod dut;
pub mod emulated;
mod error;
#[cfg(feature = "full")]
pub mod fix;
#[cfg(feature = "full")]
pub mod gallery;
#[cfg(feature = "full")]
mod ground_truth;
#[cfg(feature = "full")]
pub mod hops;
#[cfg(feature = "full")]
pub mod lab;
pub mod output;
#[cfg(feature = "full")]
pub mod path;
#[cfg(feature = "full")]
pub mod ping;
mod progress;
pub mod results;
pub mod scenario;
#[cfg(feature = "full")]
pub mod serve;
#[cfg(feature = "full")]
pub mod sim;
#[cfg(feature = "full")]
pub mod size;
#[cfg(feature = "full")]
pub mod sweep;
#[cfg(feature = "full")]
pub mod test;
#[cfg(feature = "full")]
pub mod trace;
#[cfg(feature = "full")]
pub mod watch;

pub use cancel::CancelToken;
#[cfg(feature = "full")]
pub use error::CommandError;
pub use error::{AppError, ExitClass};
pub use progress::MeasureEvent;

/// The version of this program in results.
#[cfg(feature = "full")]
const VERSION: &str = env!("CARGO_PKG_VERSION");
