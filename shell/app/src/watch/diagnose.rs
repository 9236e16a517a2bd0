//! Patterns in months of history.
use super::{HistorySource, Period};
use crate::AppError;
use fathom_diagnose::Diagnosis;
use fathom_os::clock::utc_offset_s;
use fathom_report::{CommandDocument, command_document};
use fathom_run::Finding;
use fathom_watch_web::{find_in_months, zone_of};
use serde_json::json;

/// Finds patterns in a period of the history.
///
/// # Errors
/// If the period is empty, or the history cannot be read.
pub fn diagnose(source: &HistorySource, period: Period) -> Result<Vec<Finding>, AppError> {
    let Period { from, to } = period.check()?;
    let zone = zone_of((from, to), utc_offset_s);
    find_in_months(source.past()?.as_mut(), from..to, zone).map_err(AppError::History)
}

/// The JSON document of the findings of [`diagnose`] in a period. Spans are in nanoseconds since
/// 1970-01-01 UTC.
#[must_use]
pub fn findings_document(found: &[Finding], period: Period) -> CommandDocument {
    let headline = match found.first() {
        Some(first) => fathom_prose::finding(first, None),
        None => "no finding beyond what chance explains".to_owned(),
    };
    let diagnosis = Diagnosis { findings: found.to_vec(), ..Diagnosis::default() };
    let data = json!({ "from": period.from.to_string(), "to": period.to.to_string() });
    command_document("watch diagnose", headline, &diagnosis, ("period", data))
}
