//! The use cases of Fathom. Each is a function from a typed request to a result, and reports its
//! progress as events.
//!
//! This crate prints nothing, ends no process and keeps no global state. The caller can cancel a
//! use case with a [`CancelToken`], and decides how to show events, results and [`AppError`]s.
//!
//! With the feature `formats` alone it holds only what `fathom demo` needs.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "host")]
pub mod audit;
#[cfg(feature = "measure")]
pub mod buffer;
mod cancel;
#[cfg(feature = "analysis")]
pub mod counterfactual;
#[cfg(any(feature = "lab", feature = "analysis"))]
pub mod demo;
#[cfg(all(feature = "measure", target_os = "linux"))]
pub mod doctor;
#[cfg(feature = "full")]
pub mod dut;
#[cfg(feature = "full")]
pub mod ecn;
#[cfg(feature = "lab")]
pub mod emulated;
mod error;
#[cfg(feature = "host")]
pub mod fix;
#[cfg(feature = "analysis")]
pub mod gallery;
#[cfg(feature = "full")]
mod ground_truth;
#[cfg(feature = "full")]
pub mod history;
#[cfg(feature = "measure")]
pub mod hops;
#[cfg(feature = "full")]
pub mod lab;
#[cfg(feature = "minimal-watch")]
pub mod minimal_watch;
pub mod output;
#[cfg(feature = "measure")]
pub mod path;
#[cfg(feature = "measure")]
pub mod ping;
mod progress;
pub mod results;
pub mod scenario;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "analysis")]
pub mod sim;
#[cfg(feature = "analysis")]
pub mod size;
#[cfg(feature = "sweep")]
pub mod sweep;
#[cfg(feature = "measure")]
pub mod test;
#[cfg(feature = "analysis")]
pub mod trace;

pub use cancel::CancelToken;
#[cfg(any(feature = "host", feature = "analysis"))]
pub use error::CommandError;
pub use error::{AppError, ExitClass};
pub use progress::MeasureEvent;

/// The version of this program in results.
#[cfg(feature = "analysis")]
const VERSION: &str = env!("CARGO_PKG_VERSION");
