//! Results that were saved before.
use crate::output::exit_class;
use crate::{AppError, ExitClass};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
use std::path::PathBuf;

/// Reads results, and diagnoses each.
///
/// # Errors
/// If a file cannot be read or is no result.
pub fn load(files: &[PathBuf]) -> Result<Vec<(Run, Diagnosis)>, AppError> {
    let with_diagnosis = |run: Run| {
        let diagnosis = diagnose(&run);
        (run, diagnosis)
    };
    files.iter().map(|file| fathom_store::load(file).map(with_diagnosis).map_err(AppError::Load)).collect()
}

/// What the worst of several results means.
#[must_use]
pub fn worst(runs: &[(Run, Diagnosis)]) -> ExitClass {
    runs.iter().map(|(run, d)| exit_class(run, d)).max().unwrap_or(ExitClass::Healthy)
}
