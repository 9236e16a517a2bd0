//! Results: those of a measurement, those that were saved before, and periods of a watch.
#[cfg(feature = "full")]
mod source;

use crate::ExitClass;
use crate::output::exit_class;
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
#[cfg(feature = "full")]
pub use source::{ResultSource, load};

/// A run, and what it shows.
pub type DiagnosedRun = (Run, Diagnosis);

/// Adds what a run shows.
#[must_use]
pub fn diagnosed(run: Run) -> DiagnosedRun {
    let diagnosis = diagnose(&run);
    (run, diagnosis)
}

/// The parts of each, as renderers take them.
#[must_use]
pub fn borrowed(runs: &[DiagnosedRun]) -> Vec<(&Run, &Diagnosis)> {
    runs.iter().map(|(run, diagnosis)| (run, diagnosis)).collect()
}

/// What the worst of several results means.
#[must_use]
pub fn worst(runs: &[DiagnosedRun]) -> ExitClass {
    runs.iter().map(|(run, d)| exit_class(run, d)).max().unwrap_or(ExitClass::Healthy)
}
