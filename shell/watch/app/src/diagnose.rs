//! Patterns in months of history.
use crate::{HistorySource, Period};
use fathom_app::AppError;
use fathom_diagnose::Diagnosis;
use fathom_os::clock::utc_offset_s;
use fathom_prose::pattern_verdict;
use fathom_report::{CommandDocument, judged_document};
use fathom_run::Finding;
use fathom_units::WallTime;
use fathom_watch_store::HistoryError;
use fathom_watch_web::{find_in_months, zone_of};
use serde_json::json;

const DAY_NS: u64 = 86_400 * 1_000_000_000;

/// Patterns that were found in a period.
#[derive(Clone, Debug)]
pub struct PatternSearch {
    /// The period.
    pub period: Period,
    /// Days of it that the history covers.
    pub days: u64,
    /// The findings, the most certain first. Spans are in nanoseconds since 1970-01-01 UTC.
    pub found: Vec<Finding>,
}

/// Finds patterns in a period of the history.
///
/// # Errors
/// If the period is empty, or the history cannot be read.
pub fn diagnose(source: &HistorySource, period: Period) -> Result<PatternSearch, AppError> {
    let Period { from, to } = period.check()?;
    let zone = zone_of((from, to), utc_offset_s);
    let days = covered_days(source, period)?;
    let found = find_in_months(source.past()?.as_mut(), from..to, zone).map_err(AppError::History)?;
    Ok(PatternSearch { period, days, found })
}

/// Whole days of `period` from the first to the last sample.
fn covered_days(source: &HistorySource, period: Period) -> Result<u64, AppError> {
    let mut reader = source.open()?;
    let mut ends = || -> Result<(Option<WallTime>, Option<WallTime>), HistoryError> {
        let (samples, windows) = reader.oldest()?;
        let mut newest = None;
        for (id, _) in reader.series()? {
            newest = newest.max(reader.newest(id)?.map(|sample| sample.at));
        }
        Ok((samples.into_iter().chain(windows).min(), newest))
    };
    let (oldest, newest) = ends().map_err(AppError::history)?;
    let span = oldest.zip(newest).map(|(oldest, newest)| {
        let (from, to) = (oldest.max(period.from), newest.min(period.to));
        to.0.saturating_sub(from.0) / DAY_NS
    });
    Ok(span.unwrap_or(0))
}

impl PatternSearch {
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let diagnosis = Diagnosis { findings: self.found.clone(), ..Diagnosis::default() };
        let data = json!({ "from": self.period.from.to_string(), "to": self.period.to.to_string() });
        let verdict = pattern_verdict(&self.found, self.days);
        judged_document("watch diagnose", &verdict, &diagnosis, ("period", data))
    }
}
