//! Settings, progress and result of a fix.
use fathom_client::{Event as TestEvent, TestConfig, TestError};
use fathom_diagnose::Diagnosis;
use fathom_run::Run;
use fathom_shape::fix::{Budget, Event, Outcome, Report};
use fathom_shape::knee::Failure;
use fathom_shaper::{ApplyError, Framing, Place, Plan, ShaperKind};
use fathom_units::{Direction, Duration, PerDirection, Rate};
use std::fmt;

/// Settings of a fix.
#[derive(Clone, Debug)]
pub struct FixConfig {
    /// How to measure: the server, its token, flows and congestion control. Phases are chosen by
    /// the fix.
    pub test: TestConfig,
    /// Directory of the interface's state.
    pub place: Place,
    /// Type of shaper; `None` chooses the best available.
    pub shaper: Option<ShaperKind>,
    /// Packet framing; a missing overhead is measured.
    pub framing: Framing,
    /// Round-trip time of the paths; a missing one is measured.
    pub round_trip: Option<Duration>,
    /// Maximum increase of latency.
    pub budget: Budget,
    /// Directions to shape.
    pub directions: PerDirection<bool>,
    /// Rates to use without a search.
    pub rates: PerDirection<Option<Rate>>,
    /// Shape even without bufferbloat.
    pub force: bool,
    /// Measure and search, and stop at the plan. The trials are kept for a following fix.
    pub dry_run: bool,
}

/// Progress events.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A step of the fix.
    Step(Event),
    /// An event of the running test.
    Test(TestEvent),
    /// The diagnosis without a shaper.
    Baseline(&'a Diagnosis),
    /// An interrupted fix was rolled back; description.
    Recovered(&'a str),
    /// The plan of an attempt, with its undo commands.
    Plan(&'a Plan),
}

/// Why a fix failed.
#[derive(Debug)]
pub enum FixError {
    /// The link could not be measured.
    Test(TestError),
    /// The interface could not be changed or restored.
    Apply(ApplyError),
    /// No knee was found in a direction.
    NoKnee(Direction, Failure),
    /// All trials were used without finding the knee of a direction.
    OutOfTrials(Direction),
    /// A measurement ended early.
    Incomplete(String),
    /// The user stopped it. The interface was restored.
    Stopped,
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Test(error) => error.fmt(f),
            FixError::Apply(error) => error.fmt(f),
            FixError::NoKnee(direction, Failure::NotDemanded) => write!(
                f,
                "no knee {direction}: the load did not fill the shaper\n  try: a \
                 closer server, or --{direction} RATE"
            ),
            FixError::NoKnee(direction, Failure::AlwaysDelayed) => write!(
                f,
                "no knee {direction}: the delay persists at every rate: the queue is elsewhere\n  try: fathom audit, \
                 another interface, or a larger --budget"
            ),
            FixError::OutOfTrials(direction) => {
                write!(
                    f,
                    "no knee {direction}: all trials were used\n  try: again, while nothing else uses the link"
                )
            }
            FixError::Incomplete(why) => write!(f, "the measurement ended early: {why}"),
            FixError::Stopped => f.write_str("stopped; the interface was restored"),
        }
    }
}
impl std::error::Error for FixError {}

/// Result of a fix.
#[derive(Debug)]
pub struct Fixed {
    /// Outcome.
    pub outcome: Outcome,
    /// The test without a shaper.
    pub before: Run,
    /// The test of the last attempt.
    pub after: Option<Run>,
    /// The plan that was committed, or tried last.
    pub plan: Option<Plan>,
    /// Packet framing used.
    pub framing: Framing,
    /// Knees, trials and checks.
    pub report: Report,
}
