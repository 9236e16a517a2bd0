//! What is to be fixed, what is reported on the way, and what comes of it.
use fathom_client::{Event as TestEvent, TestConfig, TestError};
use fathom_diagnose::Diagnosis;
use fathom_run::Run;
use fathom_shape::fix::{Budget, Event, Outcome, Report};
use fathom_shape::knee::Failure;
use fathom_shaper::{ApplyError, Framing, Place, Plan, ShaperKind};
use fathom_units::{Direction, PerDirection, Rate};
use std::fmt;

/// What is to be fixed, and how.
#[derive(Clone, Debug)]
pub struct FixConfig {
    /// How to measure: the server, its token, flows and congestion control. Phases are chosen here.
    pub test: TestConfig,
    /// Where the state of the interface is kept.
    pub place: Place,
    /// Which shaper; the best that the kernel has if `None`.
    pub shaper: Option<ShaperKind>,
    /// How packets are counted; an overhead that is not given is measured.
    pub framing: Framing,
    /// Largest increase of latency.
    pub budget: Budget,
    /// Which directions are shaped.
    pub directions: PerDirection<bool>,
    /// Rates to take without a search.
    pub rates: PerDirection<Option<Rate>>,
    /// Shape even a line without bufferbloat.
    pub force: bool,
    /// Measure and search, and end with the plan; the trials are kept for a fix that follows.
    pub dry_run: bool,
}

/// What is reported on the way.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A step of the fix.
    Step(Event),
    /// An event of the running test.
    Test(TestEvent),
    /// The line without a shaper.
    Baseline(&'a Diagnosis),
    /// An interrupted fix was rolled back, in words.
    Recovered(&'a str),
    /// The plan of an attempt, with its undo commands.
    Plan(&'a Plan),
}

/// Why a fix has no outcome.
#[derive(Debug)]
pub enum FixError {
    /// The line could not be measured.
    Test(TestError),
    /// The interface could not be changed, or not be restored.
    Apply(ApplyError),
    /// No knee was found in a direction.
    NoKnee(Direction, Failure),
    /// All trials were made, and the knee of a direction is still not known.
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
                "no knee {direction}: the load did not fill the shaper even below the rate that the line carried without it\n  try: a \
                 nearer server, or --{direction} RATE"
            ),
            FixError::NoKnee(direction, Failure::AlwaysDelayed) => write!(
                f,
                "no knee {direction}: the delay stays at every rate, so the queue is not behind this interface\n  try: fathom audit, \
                 another interface, or a larger --budget"
            ),
            FixError::OutOfTrials(direction) => {
                write!(
                    f,
                    "no knee {direction}: all trials were made\n  try: again, while nothing else uses the line"
                )
            }
            FixError::Incomplete(why) => write!(f, "the measurement was cut short: {why}"),
            FixError::Stopped => f.write_str("stopped; the interface is as before"),
        }
    }
}
impl std::error::Error for FixError {}

/// All that is known at the end.
#[derive(Debug)]
pub struct Fixed {
    /// How it ended.
    pub outcome: Outcome,
    /// The test without a shaper.
    pub before: Run,
    /// The test of the last attempt.
    pub after: Option<Run>,
    /// The plan that stays, or was tried last.
    pub plan: Option<Plan>,
    /// How packets were counted.
    pub framing: Framing,
    /// Knees, trials and checks.
    pub report: Report,
}
