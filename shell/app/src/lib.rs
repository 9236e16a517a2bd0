//! The use cases of Fathom. Each is a function from a typed request to a result, and reports its progress as events.
//!
//! This crate prints nothing, ends no process and keeps no global state. Whoever calls it may cancel a use case with a
//! [`CancelToken`], and decides how events, results and [`AppError`]s are shown.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod audit;
mod cancel;
pub mod counterfactual;
pub mod demo;
pub mod emulated;
mod error;
pub mod fix;
pub mod gallery;
mod ground_truth;
pub mod lab;
pub mod output;
mod progress;
pub mod results;
pub mod scenario;
pub mod serve;
pub mod sim;
pub mod size;
pub mod sweep;
pub mod test;
pub mod trace;
pub mod watch;

pub use cancel::CancelToken;
pub use error::{AppError, ExitClass};
pub use progress::MeasureEvent;

/// The version of this program, as results state it.
const VERSION: &str = env!("CARGO_PKG_VERSION");
