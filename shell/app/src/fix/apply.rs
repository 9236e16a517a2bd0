//! A shaper at rates that are given: only planned, on for a time, or to stay.
use super::{BootFile, BootRequest, FixFailure, FixProgress, FixResult, Watchdog, counters, require_root};
use crate::{AppError, CancelToken};
use fathom_diagnose::{FixEvidence, diagnose_fix, shaper_conflicts};
use fathom_report::{FixData, FixOutcome};
use fathom_run::{ConflictCause, Finding};
use fathom_shaper::{Look, Place, Plan, ShapeRequest, Transaction, about, conflicts};
use fathom_units::PerDirection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The watchdog acts only if this process does not by itself.
const WATCHDOG_MARGIN: Duration = Duration::from_secs(10);
/// A commit follows at once.
const COMMIT_LIMIT: Duration = Duration::from_secs(20);
/// Within this time something passes any interface that is used.
const MIN_OBSERVATION: Duration = Duration::from_secs(5);
/// How soon a cancellation is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// For how long a shaper is on.
pub enum Duty<'a> {
    /// Not at all: only the plan is made.
    Plan,
    /// For a time, then it is rolled back.
    For(Duration),
    /// Until it is undone; and made again when the system starts, if requested.
    Stay(Option<BootRequest<'a>>),
}

/// A shaper at given rates.
pub struct ApplyRequest<'a> {
    /// Interface, rates and shaper.
    pub shape: ShapeRequest,
    /// Directory of the state.
    pub state: &'a Path,
    /// For how long.
    pub duty: Duty<'a>,
    /// The watchdog.
    pub watchdog: Watchdog<'a>,
}

/// Counters of the interface and its shapers, when the shaper was put on and before it was taken off.
#[derive(Clone, Debug)]
pub struct Looks {
    /// When it was put on.
    pub before: Look,
    /// Before it was taken off.
    pub after: Look,
}

/// What came of it.
#[derive(Debug)]
pub struct Applied {
    /// As a document.
    pub result: FixResult,
    /// What passed while it was on, if it was on for a time.
    pub looks: Option<Looks>,
    /// What is started with the system.
    pub boot: Option<PathBuf>,
}

impl Applied {
    /// What conflicts with the shaper.
    #[must_use]
    pub fn conflicts(&self) -> &[Finding] {
        &self.result.diagnosis.findings
    }
}

/// Shapes an interface to given rates.
///
/// # Errors
/// What kept it from that. The interface is as before then, unless the error says that it could not be restored.
pub fn apply(
    request: ApplyRequest<'_>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(FixProgress<'_>),
) -> Result<Applied, AppError> {
    let shape = &request.shape;
    if shape.up.is_none() && shape.down.is_none() {
        return Err(FixFailure::NoRates.into());
    }
    require_root()?;
    let mut transaction = Transaction::begin(shape, &Place::new(request.state, &shape.device))?;
    transaction.recovered().into_iter().for_each(|words| progress(FixProgress::Note(words)));
    let mut causes = conflicts::detect(Path::new("/"), &shape.device);
    causes.extend(conflicts::hardware(&shape.device));
    progress(FixProgress::Plan(transaction.plan()));
    progress(FixProgress::Conflicts(&shaper_conflicts(&shape.device, &causes)));
    let plan = transaction.plan().clone();
    let (outcome, looks, boot) = match request.duty {
        Duty::Plan => (FixOutcome::Planned, None, None),
        Duty::Stay(boot) => {
            transaction.apply((request.watchdog)(), COMMIT_LIMIT)?;
            // Before anything stays.
            let boot = boot.map(|boot| BootFile::new(&boot, &plan)).transpose()?;
            transaction.commit()?;
            (FixOutcome::Committed, None, boot.map(BootFile::write).transpose()?)
        }
        Duty::For(time) => {
            transaction.apply((request.watchdog)(), time + WATCHDOG_MARGIN)?;
            progress(FixProgress::Holding);
            let looks = hold(transaction, time, cancel, &mut causes)?;
            (FixOutcome::RolledBack, Some(looks), None)
        }
    };
    Ok(Applied { result: result(&plan, outcome, looks.as_ref(), &causes), looks, boot })
}

/// Keeps the shaper on for a time, then rolls back; adds what its counters show to `causes`.
fn hold(
    mut transaction: Transaction,
    time: Duration,
    cancel: &CancelToken,
    causes: &mut Vec<ConflictCause>,
) -> Result<Looks, AppError> {
    let before = transaction.look()?;
    let begun = Instant::now();
    while begun.elapsed() < time && !cancel.is_cancelled() {
        std::thread::sleep(POLL_INTERVAL);
    }
    // The shaper may be gone by now: that is reported after the interface is restored.
    let after = transaction.look();
    let is_long = begun.elapsed() >= MIN_OBSERVATION;
    transaction.roll_back("its time was over")?;
    let after = after?;
    causes.extend(conflicts::observed(&before, &after));
    causes.extend(conflicts::idle(&before, &after).filter(|_| is_long));
    Ok(Looks { before, after })
}

fn result(plan: &Plan, outcome: FixOutcome, looks: Option<&Looks>, conflicts: &[ConflictCause]) -> FixResult {
    let interface = plan.device.as_str();
    let is_shaped = outcome == FixOutcome::Committed;
    let evidence = FixEvidence { interface, before: None, after: None, is_shaped, checks: &[], conflicts };
    let headline = match outcome {
        FixOutcome::Planned => "Nothing was changed (--dry-run).".to_owned(),
        FixOutcome::Committed => format!("{interface} is shaped, and stays so."),
        _ => format!("{interface} is as it was before."),
    };
    let counters = looks.map(|Looks { before, after }| PerDirection {
        up: before.up.as_ref().zip(after.up.as_ref()).map(|(from, to)| counters(Some(from), to)),
        down: before.down.as_ref().zip(after.down.as_ref()).map(|(from, to)| counters(Some(from), to)),
    });
    let data = FixData {
        interface: Some(interface.to_owned()),
        outcome: Some(outcome),
        plan: Some(about(plan)),
        counters,
        ..FixData::default()
    };
    FixResult { headline, diagnosis: diagnose_fix(&evidence), data }
}
