//! Shapes to given rates: only a plan, for a limited time, or permanently.
use super::{BootFile, BootRequest, FixFailure, FixProgress, FixResult, Watchdog, counters, require_root};
use crate::{AppError, CancelToken};
use fathom_diagnose::{FixEvidence, diagnose_fix, shaper_conflicts};
use fathom_report::{FixData, FixOutcome};
use fathom_run::{ConflictCause, Finding};
use fathom_shaper::{Look, Place, Plan, ShapeRequest, Transaction, about, conflicts};
use fathom_units::PerDirection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time beyond the limit after which the watchdog rolls back, if this process has not done so
/// itself.
const WATCHDOG_MARGIN: Duration = Duration::from_secs(10);
/// Time limit of a fix that is committed at once.
const COMMIT_LIMIT: Duration = Duration::from_secs(20);
/// Minimum observation before counters are judged: an interface in use sends packets within this
/// time.
const MIN_OBSERVATION: Duration = Duration::from_secs(5);
/// Time between two checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a shaper stays on.
pub enum Duty<'a> {
    /// Not at all: only the plan is created.
    Plan,
    /// For a limited time; then it is rolled back.
    For(Duration),
    /// Until it is undone. If requested, it is applied again when the system starts.
    Stay(Option<BootRequest<'a>>),
}

/// A request to shape to given rates.
pub struct ApplyRequest<'a> {
    /// Interface, rates and shaper.
    pub shape: ShapeRequest,
    /// Directory of the rollback state.
    pub state: &'a Path,
    /// The duration.
    pub duty: Duty<'a>,
    /// Starts the watchdog process.
    pub watchdog: Watchdog<'a>,
}

/// Counters of the interface and its shapers, after the shaper was applied and before it was
/// removed.
#[derive(Clone, Debug)]
pub struct Looks {
    /// After the shaper was applied.
    pub before: Look,
    /// Before the shaper was removed.
    pub after: Look,
}

/// The result of a shaper at given rates.
#[derive(Debug)]
pub struct Applied {
    /// The result as a document.
    pub result: FixResult,
    /// The counters of the time with the shaper. `None` if it was not on for a limited time.
    pub looks: Option<Looks>,
    /// The file that applies the shaper when the system starts.
    pub boot: Option<PathBuf>,
}

impl Applied {
    /// The conflicts with the shaper.
    #[must_use]
    pub fn conflicts(&self) -> &[Finding] {
        &self.result.diagnosis.findings
    }
}

/// Shapes an interface to given rates.
///
/// # Errors
/// If the interface cannot be shaped. The interface is then restored, unless the error says
/// otherwise.
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
            // This can fail, so it comes before the shaper is committed.
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

/// Keeps the shaper on for a time, then rolls back. Adds the findings from its counters to
/// `causes`.
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
    // If another program has removed the shaper, the error is reported after the interface is
    // restored.
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
        FixOutcome::Committed => format!("{interface} stays shaped."),
        _ => format!("{interface} is restored."),
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
