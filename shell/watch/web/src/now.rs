//! What the page shows of the present.
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::TargetNow;
use fathom_watch_samples::{Sketch, Tally};

/// Everything that was counted of a series since the program started.
#[derive(Clone, PartialEq, Debug)]
pub struct Total {
    /// What the target is called.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The host as the plan names it.
    pub host: String,
    /// How it is asked.
    pub probe: String,
    /// Outcomes.
    pub tally: Tally,
    /// Delays of those that were answered, late ones included.
    pub sketch: Sketch,
    /// The newest delay; `None` if the newest probe was not answered.
    pub last: Option<Duration>,
    /// When counting began.
    pub since: WallTime,
    /// Names of the alerts that are raised.
    pub alerts: Vec<String>,
}

/// What a series of the probing host was in the last seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct HostNow {
    /// Its name: `eth0 sent`, `lateness of icmp`.
    pub probe: String,
    /// Mean of its values.
    pub mean: f64,
    /// The greatest of them.
    pub max: f64,
}

/// The result of a test of the line, kept in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestResult {
    /// By which [`Live::report`] gives it.
    pub name: String,
    /// When it began.
    pub at: WallTime,
    /// When it ended.
    pub until: WallTime,
    /// What came of it, in words.
    pub text: String,
}

/// Where the present comes from. Called from a thread that may wait, about once a second.
pub trait Live: Send + Sync {
    /// All targets.
    fn targets(&self) -> Vec<TargetNow>;
    /// What was counted of each since the program started.
    fn totals(&self) -> Vec<Total>;
    /// What the probing host did itself.
    fn host(&self) -> Vec<HostNow> {
        Vec::new()
    }
    /// Tests of the line that were made in a range of time.
    fn results(&self, _from: WallTime, _to: WallTime) -> Vec<TestResult> {
        Vec::new()
    }
    /// The page of one of them, which may hold scripts; `None` if there is none of this name.
    fn report(&self, _name: &str) -> Option<String> {
        None
    }
}
