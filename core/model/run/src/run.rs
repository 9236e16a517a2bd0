//! The record that every source of measurements produces.
//!
//! Times are nanoseconds on the run's monotonic clock; values are in SI units. A [`Run`] contains
//! results only. `fathom-diagnose` infers findings from it, so that measurement and inference stay
//! separate.
use crate::bounded::bounded;
use crate::note::{self, Fact, Interruption, NotSent, Note};
use crate::{Burst, Capture, HostTraffic, Metric, Path, Switch};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::DelayHistogram;
use fathom_units::{Direction, Time};
use serde::{Deserialize, Serialize};

/// Schema version of written files. Versions down to [`OLDEST_SCHEMA_VERSION`] can be read.
///
/// Version 2 replaced sentences and lists in `capture` with data.
pub const SCHEMA_VERSION: u32 = 2;

/// Oldest schema version that can be read.
pub const OLDEST_SCHEMA_VERSION: u32 = 1;

/// An observed value or a lower bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// The value was observed.
    Observed(f64),
    /// Not observed before the wait ended, for example a probe that was never answered.
    Censored {
        /// Lower bound of the value: the duration of the wait, in the unit of the metric.
        at_least: f64,
    },
}

impl Value {
    /// The value if it was observed.
    pub const fn observed(self) -> Option<f64> {
        match self {
            Value::Observed(value) => Some(value),
            Value::Censored { .. } => None,
        }
    }
}

/// A value at a point in time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation {
    /// Time; for a probe, its send time.
    pub at: Time,
    /// Value.
    pub value: Value,
}

/// Identity of a series.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SeriesKey {
    /// The metric.
    pub metric: Metric,
    /// The direction, if the metric has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Number of the load flow, for metrics of a single flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// Distinguishes several instances of the same metric, such as the hops of a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Observations of one [`SeriesKey`] in time order, stored by column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "SeriesFields")]
pub struct Series {
    /// Identity of the series.
    #[serde(flatten)]
    pub key: SeriesKey,
    /// Time of each observation.
    pub at_ns: Vec<u64>,
    /// Value of each observation; the lower bound if it is censored.
    pub values: Vec<f64>,
    /// Indices of the censored observations, in ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub censored: Vec<u32>,
    /// Number of duplicate responses to probes.
    pub duplicates: u32,
    /// Number of responses that arrived after the response to a later probe (RFC 4737).
    pub reordered: u32,
    /// Number of due probes that could not be sent, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_sent: BTreeMap<NotSent, u32>,
}

/// The fields of [`Series`] as written. A flattened key would buffer unknown fields of any size.
#[derive(Deserialize)]
struct SeriesFields {
    metric: Metric,
    #[serde(default)]
    direction: Option<Direction>,
    #[serde(default)]
    flow: Option<u32>,
    #[serde(default)]
    scope: Option<String>,
    at_ns: Vec<u64>,
    values: Vec<f64>,
    #[serde(default)]
    censored: Vec<u32>,
    #[serde(default)]
    duplicates: u32,
    #[serde(default)]
    reordered: u32,
    #[serde(default)]
    not_sent: BTreeMap<NotSent, u32>,
}

impl From<SeriesFields> for Series {
    fn from(read: SeriesFields) -> Self {
        let SeriesFields { metric, direction, flow, scope, at_ns, values, censored, .. } = read;
        let key = SeriesKey { metric, direction, flow, scope };
        let SeriesFields { duplicates, reordered, not_sent, .. } = read;
        Series { key, at_ns, values, censored, duplicates, reordered, not_sent }
    }
}

/// Load of a phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// No load.
    Idle,
    /// Load in the download direction.
    Down,
    /// Load in the upload direction.
    Up,
    /// Load in both directions.
    Both,
    /// No load after a loaded phase: the queue empties.
    Drain,
    /// No load from this program, unknown load from others: a period of a watch.
    Watch,
}

impl PhaseKind {
    /// Name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            PhaseKind::Idle => "idle",
            PhaseKind::Down => "down",
            PhaseKind::Up => "up",
            PhaseKind::Both => "both",
            PhaseKind::Drain => "drain",
            PhaseKind::Watch => "watch",
        }
    }
    /// Whether the phase loads any direction.
    pub const fn is_loaded(self) -> bool {
        !self.loads().is_empty()
    }
    /// Directions that the phase loads.
    pub const fn loads(self) -> &'static [Direction] {
        match self {
            PhaseKind::Idle | PhaseKind::Drain | PhaseKind::Watch => &[],
            PhaseKind::Down => &[Direction::Down],
            PhaseKind::Up => &[Direction::Up],
            PhaseKind::Both => &Direction::BOTH,
        }
    }
}

/// Why a phase ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseEnd {
    /// The condition was met: working latency stopped growing, or the queue was empty.
    Settled,
    /// The maximum duration was reached first.
    TimeLimit,
    /// The data limit was reached first.
    ByteLimit,
    /// The run was interrupted during the phase.
    Aborted,
}

/// Load of a phase, with its results.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// Number of upload TCP flows.
    pub flows_up: u32,
    /// Number of download TCP flows.
    pub flows_down: u32,
    /// Congestion control that the kernel reported for the senders, not the requested one.
    pub congestion_control: String,
    /// Uploaded payload bytes.
    pub delivered_up_bytes: u64,
    /// Downloaded payload bytes.
    pub delivered_down_bytes: u64,
}

/// A part of the run with one kind of load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Phase {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Start (inclusive).
    pub start_ns: u64,
    /// End (exclusive).
    pub end_ns: u64,
    /// Why the phase ended.
    pub end: PhaseEnd,
    /// The load, if the phase has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

/// Host that produced the run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Host {
    /// `uname -sr`.
    pub kernel: String,
    /// Number of CPUs available to the process.
    pub cpus: u32,
}

/// Quality of the measurement itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Instrument {
    /// Lateness of the probe timer, per wake-up.
    pub timer_lateness: DelayHistogram,
    /// Lateness of each probe: send time minus due time.
    pub send_lateness: DelayHistogram,
    /// Lateness of the emulated line in releasing each packet, if the run used one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_lateness: Option<DelayHistogram>,
    /// Steps of the wall clock relative to the monotonic clock during the run, in seconds.
    #[serde(default)]
    pub clock_steps_s: Vec<f64>,
    /// Offset of the server's clock at the start of the run and its uncertainty, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<[f64; 2]>,
    /// Drift of the server's clock (1e-6 is one microsecond per second).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ratio: Option<f64>,
    /// Share of probe responses with a kernel receive timestamp.
    #[serde(default)]
    pub kernel_timestamp_ratio: f64,
}

/// Maximum size of [`Run::facts`] in a file, in bytes. They have less than 2,000.
const MAX_FACTS_BYTES: usize = 64 << 10;
/// Maximum size of [`Run::path`] in a file, in bytes. A path has at most 30 hops of 100 bytes.
const MAX_PATH_BYTES: usize = 64 << 10;
/// Maximum size of [`Run::host_traffic`] in a file, in bytes. Five phases have at most six programs
/// of 200 bytes each.
const MAX_HOST_TRAFFIC_BYTES: usize = 64 << 10;
/// Maximum size of [`Run::bursts`] in a file, in bytes. Two directions have at most 23 bursts each,
/// with 520,000 datagrams of 30 bytes together, however large their budget is.
const MAX_BURSTS_BYTES: usize = 16_000_000;
/// Maximum size of [`Run::switch`] in a file, in bytes. It has eight tests of at most 8 streams.
const MAX_SWITCH_BYTES: usize = 64 << 10;
/// Maximum size of [`Run::capture`] in a file, in bytes. It lists only the largest flows: that of a
/// capture of 100,000 flows has less than 1 MB. Formats of version 1 are found by trial, for which
/// serde buffers up to 16 times the text.
const MAX_CAPTURE_BYTES: usize = 16_000_000;

/// A measurement from any source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the writing program.
    pub schema_version: u32,
    /// Version of the writing program.
    pub tool_version: String,
    /// Command that produced it: `test`, `demo`, `lab`, ...
    pub command: String,
    /// Wall-clock time of the start, RFC 3339.
    pub started: String,
    /// Title for people, in one line: the server or the name of the line.
    pub title: String,
    /// Host that produced the run.
    pub host: Host,
    /// Facts about the path and the settings: server, address, line, flows.
    #[serde(default, deserialize_with = "bounded::<MAX_FACTS_BYTES, _, _>")]
    pub facts: BTreeMap<Fact, String>,
    /// Phases in time order, without overlap.
    pub phases: Vec<Phase>,
    /// All observations.
    pub series: Vec<Series>,
    /// Quality of the measurement itself.
    pub instrument: Instrument,
    /// Why the run is incomplete, if it is. Results up to the interruption are kept.
    #[serde(default, deserialize_with = "note::option", skip_serializing_if = "Option::is_none")]
    pub partial: Option<Interruption>,
    /// Results of captures in addition to their series.
    #[serde(
        default,
        deserialize_with = "bounded::<MAX_CAPTURE_BYTES, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub capture: Option<Box<Capture>>,
    /// The path to the server, if its routers were probed.
    #[serde(
        default,
        deserialize_with = "bounded::<MAX_PATH_BYTES, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub path: Option<Path>,
    /// Data of a watch period in addition to its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// Bursts that measured the buffers of the line, in the order of sending.
    #[serde(
        default,
        deserialize_with = "bounded::<MAX_BURSTS_BYTES, _, _>",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub bursts: Vec<Burst>,
    /// Tests of a switch, in addition to their series and bursts.
    #[serde(
        default,
        deserialize_with = "bounded::<MAX_SWITCH_BYTES, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub switch: Option<Box<Switch>>,
    /// What this host sent and received during the test, by phase.
    #[serde(
        default,
        deserialize_with = "bounded::<MAX_HOST_TRAFFIC_BYTES, _, _>",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub host_traffic: Vec<HostTraffic>,
    /// What could not be measured, and why.
    #[serde(default, deserialize_with = "note::list")]
    pub notes: Vec<Note>,
}

/// A period in the history of one target.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// Name of the target.
    pub target: String,
    /// Local time of the household: the offsets from UTC, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub utc_offsets: Vec<UtcOffset>,
    /// Times at which the path to the target changed, in nanoseconds of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_changes_ns: Vec<u64>,
}

/// An offset from UTC, and the time since it applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UtcOffset {
    /// Start of the offset, in seconds since 1970-01-01 UTC.
    pub since_s: u64,
    /// Seconds east of UTC.
    pub offset_s: i64,
}

impl SeriesKey {
    /// Creates the key of a metric without direction, flow or scope.
    pub const fn of(metric: Metric) -> Self {
        SeriesKey { metric, direction: None, flow: None, scope: None }
    }
    /// Creates the key of a metric of one direction.
    pub const fn directed(metric: Metric, direction: Direction) -> Self {
        SeriesKey { metric, direction: Some(direction), flow: None, scope: None }
    }
}

impl Series {
    /// Creates a series without observations.
    pub const fn new(key: SeriesKey) -> Self {
        Series {
            key,
            at_ns: Vec::new(),
            values: Vec::new(),
            censored: Vec::new(),
            duplicates: 0,
            reordered: 0,
            not_sent: BTreeMap::new(),
        }
    }
    /// Appends an observation. Times must not decrease.
    pub fn push(&mut self, observation: Observation) {
        let value = match observation.value {
            Value::Observed(v) => v,
            Value::Censored { at_least } => {
                self.censored.push(self.values.len() as u32);
                at_least
            }
        };
        self.at_ns.push(observation.at.as_nanos());
        self.values.push(value);
    }
    /// All observations in time order.
    pub fn iter(&self) -> impl Iterator<Item = Observation> + '_ {
        let mut censored = self.censored.iter().copied().peekable();
        self.at_ns.iter().zip(&self.values).enumerate().map(move |(i, (at, v))| {
            let is_censored = censored.next_if_eq(&(i as u32)).is_some();
            let value = if is_censored { Value::Censored { at_least: *v } } else { Value::Observed(*v) };
            Observation { at: Time::from_nanos(*at), value }
        })
    }
    /// Observations with `start <= at < end`.
    pub fn between(&self, start: Time, end: Time) -> impl Iterator<Item = Observation> + '_ {
        self.iter().skip_while(move |o| o.at < start).take_while(move |o| o.at < end)
    }
    /// Observations within `phase`.
    pub fn within(&self, phase: &Phase) -> impl Iterator<Item = Observation> + '_ {
        self.between(Time::from_nanos(phase.start_ns), Time::from_nanos(phase.end_ns))
    }
}

impl Phase {
    /// Duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }
}

impl Run {
    /// The first series with this key.
    pub fn series(&self, key: &SeriesKey) -> Option<&Series> {
        self.series.iter().find(|s| s.key == *key)
    }
    /// Whether its result is that of bursts, as with `fathom buffer` and `fathom dut`. A test may
    /// have some after its phases.
    pub fn is_of_bursts(&self) -> bool {
        !self.bursts.is_empty() && (self.phases.is_empty() || self.switch.is_some())
    }
    /// The first phase of this kind.
    pub fn phase(&self, kind: PhaseKind) -> Option<&Phase> {
        self.phases.iter().find(|p| p.kind == kind)
    }
}
