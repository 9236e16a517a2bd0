//! Searches for the rates, and keeps the shaper only if it passes all checks.
use super::{BootFile, BootRequest, FixProgress, FixResult, Watchdog, require_root};
use crate::{AppError, CancelToken};
use fathom_diagnose::{Diagnosis, FixEvidence, diagnose, diagnose_fix, shaper_checks, shaper_conflicts};
use fathom_fix::{FixConfig, Fixed, Progress, fix};
use fathom_report::{FixData, phases, searches};
use fathom_run::ConflictCause;
use fathom_shape::fix::{Event, Outcome};
use fathom_shaper::{about, conflicts};
use std::path::{Path, PathBuf};

/// A request to search for the rates of an interface.
pub struct SearchRequest<'a> {
    /// The configuration.
    pub fix: FixConfig,
    /// Directory for the tests before and after.
    pub results: Option<&'a Path>,
    /// Applies the fix again when the system starts.
    pub boot: Option<BootRequest<'a>>,
    /// Starts the watchdog process.
    pub watchdog: Watchdog<'a>,
}

/// The result of a search.
#[derive(Debug)]
pub struct Searched {
    /// The result as a document.
    pub result: FixResult,
    /// All data of the fix.
    pub fixed: Fixed,
    /// Diagnosis of the line without a shaper.
    pub before: Diagnosis,
    /// Diagnosis of the line with the last shaper.
    pub after: Option<Diagnosis>,
    /// The file that applies the shaper when the system starts.
    pub boot: Option<PathBuf>,
}

/// Measures, searches for the rates, shapes and verifies.
///
/// # Errors
/// If the search has no outcome. The interface is then restored, unless the error says otherwise.
pub fn search(
    request: &SearchRequest<'_>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FixProgress<'_>),
) -> Result<Searched, AppError> {
    require_root()?;
    if let Some(folder) = request.results {
        std::fs::create_dir_all(folder).map_err(|source| AppError::Unreadable {
            name: format!("--results {}", folder.display()),
            source,
        })?;
    }
    let interface = request.fix.place.device.as_str();
    let causes = conflicts::detect(Path::new("/"), interface);
    progress(FixProgress::Conflicts(&shaper_conflicts(interface, &causes)));
    let fixed = fix(&request.fix, request.watchdog, cancel.flag(), &mut |event| {
        report(interface, &event, progress);
    })?;
    save_runs(request.results, &fixed)?;
    let boot = match (&request.boot, &fixed.plan, fixed.outcome) {
        (Some(boot), Some(plan), Outcome::Verified) => Some(BootFile::new(boot, plan)?.write()?),
        _ => None,
    };
    let (before, after) = (diagnose(&fixed.before), fixed.after.as_ref().map(diagnose));
    let result = result(interface, &fixed, &causes, &before, after.as_ref());
    Ok(Searched { result, fixed, before, after, boot })
}

fn report(interface: &str, event: &Progress<'_>, progress: &mut dyn FnMut(FixProgress<'_>)) {
    match event {
        Progress::Step(Event::Verified(checks)) => {
            progress(FixProgress::Checks(&shaper_checks(interface, checks)));
        }
        Progress::Step(step) => progress(FixProgress::Step(step)),
        Progress::Test(event) => progress(FixProgress::Test(event)),
        Progress::Baseline(diagnosis) => progress(FixProgress::Baseline(diagnosis)),
        Progress::Recovered(words) => progress(FixProgress::Note(words)),
        Progress::Plan(plan) => progress(FixProgress::Plan(plan)),
    }
}

/// Saves the tests before and after.
fn save_runs(folder: Option<&Path>, fixed: &Fixed) -> Result<(), AppError> {
    let Some(folder) = folder else { return Ok(()) };
    fathom_store::save(&folder.join("before.json.gz"), &fixed.before).map_err(AppError::Save)?;
    if let Some(after) = &fixed.after {
        fathom_store::save(&folder.join("after.json.gz"), after).map_err(AppError::Save)?;
    }
    Ok(())
}

fn result(
    interface: &str,
    fixed: &Fixed,
    conflicts: &[ConflictCause],
    before: &Diagnosis,
    after: Option<&Diagnosis>,
) -> FixResult {
    let evidence = FixEvidence {
        interface,
        before: Some(&fixed.before),
        after: fixed.after.as_ref(),
        is_shaped: fixed.outcome == Outcome::Verified,
        checks: &fixed.report.checks,
        conflicts,
    };
    let data = FixData {
        interface: Some(interface.to_owned()),
        outcome: Some(fixed.outcome.into()),
        plan: fixed.plan.as_ref().map(about),
        overhead_bytes: fixed.report.overhead.map(|overhead| overhead.bytes),
        searches: Some(searches(&fixed.report)),
        before: Some(phases(before)),
        after: after.map(phases),
        ..FixData::default()
    };
    let headline = fathom_prose::fix_headline(interface, fixed.outcome);
    FixResult { headline, diagnosis: diagnose_fix(&evidence), data }
}
