//! Results: of a measurement, from files, and from periods of a watch.
#[cfg(feature = "analysis")]
mod source;

use crate::ExitClass;
use crate::output::exit_class;
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
#[cfg(feature = "analysis")]
pub use source::{ResultSource, load};

/// A run and its diagnosis.
pub type DiagnosedRun = (Run, Diagnosis);

/// Diagnoses a run.
#[must_use]
pub fn diagnosed(run: Run) -> DiagnosedRun {
    let diagnosis = diagnose(&run);
    (run, diagnosis)
}

/// References to runs and diagnoses, as renderers take them.
#[must_use]
pub fn borrowed(runs: &[DiagnosedRun]) -> Vec<(&Run, &Diagnosis)> {
    runs.iter().map(|(run, diagnosis)| (run, diagnosis)).collect()
}

/// The exit class of the worst of several results.
#[must_use]
pub fn worst(runs: &[DiagnosedRun]) -> ExitClass {
    let all = runs.iter().map(|(run, d)| exit_class(run, d));
    all.max_by_key(|class| class.severity()).unwrap_or(ExitClass::Healthy)
}
