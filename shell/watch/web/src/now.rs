//! Current data that the page shows.
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::{OwnState, TargetNow};
use fathom_watch_samples::{Sketch, Tally};

/// Counts of a series since the program started.
#[derive(Clone, PartialEq, Debug)]
pub struct Total {
    /// Name of the target.
    pub name: String,
    /// Name of its group.
    pub group: String,
    /// The host as configured.
    pub host: String,
    /// The probe.
    pub probe: String,
    /// Counts of outcomes.
    pub tally: Tally,
    /// Histogram of the delays, including late answers.
    pub sketch: Sketch,
    /// The latest delay; `None` if the latest probe was not answered.
    pub last: Option<Duration>,
    /// Start of counting.
    pub since: WallTime,
    /// Names of the raised alerts.
    pub alerts: Vec<String>,
}

/// Values of a series of the probing host in the last seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct HostNow {
    /// Name of the series: `eth0 sent`, `lateness of icmp`.
    pub probe: String,
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// A stored result of a speed test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestResult {
    /// The name for [`Live::report`].
    pub name: String,
    /// Start time.
    pub at: WallTime,
    /// End time.
    pub until: WallTime,
    /// Summary.
    pub text: String,
}

/// The values of the last result of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestNow {
    /// Name of the test.
    pub name: String,
    /// Names of its series and their values, in seconds, bit/s and bytes.
    pub values: Vec<(&'static str, f64)>,
}

/// Source of current data. Called about once a second, from a thread that may block.
pub trait Live: Send + Sync {
    /// All targets.
    fn targets(&self) -> Vec<TargetNow>;
    /// Counts of each series since the program started.
    fn totals(&self) -> Vec<Total>;
    /// Values of the probing host.
    fn host(&self) -> Vec<HostNow> {
        Vec::new()
    }
    /// Values of the last result of each scheduled test.
    fn tests(&self) -> Vec<TestNow> {
        Vec::new()
    }
    /// The state of the program itself.
    fn own(&self) -> OwnState {
        OwnState::default()
    }
    /// Speed tests in a time range.
    fn results(&self, _from: WallTime, _to: WallTime) -> Vec<TestResult> {
        Vec::new()
    }
    /// The HTML report of a test, which may contain scripts; `None` if there is no such test.
    fn report(&self, _name: &str) -> Option<String> {
        None
    }
}
