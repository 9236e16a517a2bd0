//! Runs probes and load on real sockets, and makes the `Run` of a test.
#![deny(missing_docs)]

mod config;
mod error;
mod event;

pub use config::{Cost, DEFAULT_PORT, Family, TestConfig, estimate_cost};
pub use error::TestError;
pub use event::Event;
pub use fathom_probe::{PhasePlan, ProbeKind};

use fathom_metric::Run;
use std::sync::atomic::AtomicBool;

/// Runs the test. Setting `stop` ends it early.
///
/// # Errors
/// Only if nothing was gathered. After that, whatever goes wrong is `partial` in the returned run.
pub fn run_test(
    config: &TestConfig,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    let _ = (config, stop, on_event);
    Err(TestError::Host("not yet".into()))
}
