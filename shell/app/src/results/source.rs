//! Saved results, and periods of a watch as results.
use super::{DiagnosedRun, diagnosed};
use crate::AppError;
#[cfg(feature = "full")]
use crate::history::{HistorySource, Period};
#[cfg(feature = "full")]
use fathom_os::clock::utc_offset_s;
use fathom_store::load_any;
#[cfg(feature = "full")]
use fathom_watch_web::{Period as TargetPeriod, period_run, zone_of};
use std::path::PathBuf;

/// The source of results.
#[derive(Clone, Debug)]
pub enum ResultSource {
    /// Files.
    Files(Vec<PathBuf>),
    /// Periods of the history of a target.
    #[cfg(feature = "full")]
    Watch {
        /// The history.
        history: HistorySource,
        /// Name of the target.
        target: String,
        /// The periods, in any order.
        periods: Vec<Period>,
    },
}

impl ResultSource {
    /// The name of each result, for a comparison.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            ResultSource::Files(files) => files.iter().map(|file| file.display().to_string()).collect(),
            #[cfg(feature = "full")]
            ResultSource::Watch { periods, .. } => {
                // Without seconds.
                let name = |period: &Period| period.from.to_string()[..16].replace('T', " ");
                periods.iter().map(name).collect()
            }
        }
    }
}

/// Reads and diagnoses results.
///
/// # Errors
/// If a file or the history cannot be read, a file is not a result, or a period has no samples.
pub fn load(source: &ResultSource) -> Result<Vec<DiagnosedRun>, AppError> {
    match source {
        ResultSource::Files(files) => {
            let load = |file: &PathBuf| load_any(file).map(diagnosed).map_err(AppError::Load);
            files.iter().map(load).collect()
        }
        #[cfg(feature = "full")]
        ResultSource::Watch { history, target, periods } => {
            let mut past = history.past()?;
            let read = |period: &Period| {
                let Period { from, to } = period.check()?;
                let zone = zone_of((from, to), utc_offset_s);
                let wanted = TargetPeriod { target: target.clone(), from, to };
                Ok(diagnosed(period_run(past.as_mut(), &wanted, &zone)?))
            };
            periods.iter().map(read).collect()
        }
    }
}
