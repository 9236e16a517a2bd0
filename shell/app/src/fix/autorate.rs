//! Autorate: a shaper with rates that follow the line, until it is cancelled.
use super::{FixFailure, FixProgress, FixResult, Watchdog, require_root};
use crate::{AppError, CancelToken};
use fathom_diagnose::{FixEvidence, diagnose_fix, shaper_conflicts};
use fathom_fix::auto::{AutoConfig, AutoProgress, Status, auto};
use fathom_report::{FixData, FixOutcome};
use fathom_shaper::conflicts;
use std::path::Path;

/// Maximum number of reflectors that the controller follows, in addition to a server.
const MAX_REFLECTORS: usize = 24;

/// A request to run autorate on an interface.
pub struct AutorateRequest<'a> {
    /// The configuration.
    pub config: AutoConfig,
    /// Starts the watchdog process.
    pub watchdog: Watchdog<'a>,
}

/// The result of autorate.
#[derive(Debug)]
pub struct Autorated {
    /// The result as a document.
    pub result: FixResult,
    /// The last status.
    pub status: Status,
}

/// Shapes until it is cancelled or its time is over.
///
/// # Errors
/// If autorate cannot run. The interface is then restored, unless the error says otherwise.
pub fn autorate(
    request: &AutorateRequest<'_>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FixProgress<'_>),
) -> Result<Autorated, AppError> {
    let AutorateRequest { config, watchdog } = request;
    let count = config.reflectors.hosts.len();
    if count == 0 && config.reflectors.server.is_none() && !config.passive {
        return Err(FixFailure::NoDelaySource.into());
    }
    if count > MAX_REFLECTORS {
        return Err(FixFailure::TooManyReflectors { count, max: MAX_REFLECTORS }.into());
    }
    require_root()?;
    let interface = config.place.device.as_str();
    let causes = conflicts::detect(Path::new("/"), interface);
    progress(FixProgress::Conflicts(&shaper_conflicts(interface, &causes)));
    let status = auto(config, watchdog(), cancel.flag(), &mut |event| match event {
        AutoProgress::Note(words) => progress(FixProgress::Note(words)),
        AutoProgress::Plan(plan) => progress(FixProgress::Plan(plan)),
        AutoProgress::Tick(status) => progress(FixProgress::Tick(status)),
    })?;
    let evidence = FixEvidence {
        interface,
        before: None,
        after: None,
        is_shaped: config.commit,
        checks: &[],
        conflicts: &causes,
    };
    let (outcome, headline) = if config.commit {
        (FixOutcome::Committed, format!("{interface} stays shaped at these rates."))
    } else {
        (FixOutcome::RolledBack, format!("{interface} was restored."))
    };
    let data = FixData {
        interface: Some(interface.to_owned()),
        outcome: Some(outcome),
        auto: Some(status.to_json()),
        ..FixData::default()
    };
    Ok(Autorated { result: FixResult { headline, diagnosis: diagnose_fix(&evidence), data }, status })
}
