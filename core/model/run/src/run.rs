//! The one record that every source produces.
//!
//! Times are nanoseconds on the run's monotonic clock. Values are SI. Results are here; findings are not:
//! `fathom-diagnose` makes them from a [`Run`], so that measured and inferred stay apart.
use crate::note::{self, Fact, Interruption, NotSent, Note};
use crate::{Capture, Metric};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::DelayHistogram;
use fathom_units::{Direction, Time};
use serde::{Deserialize, Serialize};

/// Version of the file format that is written. Files of this and of earlier versions are read, down to [`OLDEST_SCHEMA_VERSION`].
///
/// Version 2: the part `capture` has data where version 1 has sentences and lists.
pub const SCHEMA_VERSION: u32 = 2;

/// The oldest version of the file format that is read.
pub const OLDEST_SCHEMA_VERSION: u32 = 1;

/// An observed value, or what is known of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// It was observed.
    Observed(f64),
    /// It was not observed by the end of the wait; the value is at least this (a probe that was never answered).
    Censored {
        /// How long it was waited for, in the metric's unit.
        at_least: f64,
    },
}

/// One value at one time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation {
    /// When: for a probe, the time it was sent.
    pub at: Time,
    /// What.
    pub value: Value,
}

/// What a series is of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SeriesKey {
    /// The metric.
    pub metric: Metric,
    /// The direction, for metrics that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The load flow's number, for metrics of one flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// The place, where there are several of the same (a hop's name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Observations of one [`SeriesKey`], in order of time, stored by column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What the series is of.
    #[serde(flatten)]
    pub key: SeriesKey,
    /// Time of each observation.
    pub at_ns: Vec<u64>,
    /// Value of each observation; for a censored one its lower bound.
    pub values: Vec<f64>,
    /// Indices of the censored observations, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub censored: Vec<u32>,
    /// Answers beyond the first to the same probe.
    #[serde(default)]
    pub duplicates: u32,
    /// Answers that arrived after the answer to a later probe (RFC 4737).
    #[serde(default)]
    pub reordered: u32,
    /// Probes that could not be sent when due (no free slot, send error), by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_sent: BTreeMap<NotSent, u32>,
}

/// What the load does in a phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// No load.
    Idle,
    /// Load to the user.
    Down,
    /// Load from the user.
    Up,
    /// Both at once.
    Both,
    /// No load, after load: the queue empties.
    Drain,
    /// No load of ours, and whatever others send: a period of a watch.
    Watch,
}

impl PhaseKind {
    /// As in files and on the command line.
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
}

/// Why a phase ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseEnd {
    /// What it waited for had come: working latency stopped growing, or the queue had drained.
    Settled,
    /// It reached its longest allowed time first.
    TimeLimit,
    /// It reached the limit of bytes first.
    ByteLimit,
    /// The run was cut short in it.
    Aborted,
}

/// The load of a phase.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// TCP flows from the user.
    pub flows_up: u32,
    /// TCP flows to the user.
    pub flows_down: u32,
    /// Congestion control of the senders as the kernel reported it back, not as it was asked for.
    pub congestion_control: String,
    /// Payload bytes delivered from the user.
    pub delivered_up_bytes: u64,
    /// Payload bytes delivered to the user.
    pub delivered_down_bytes: u64,
}

/// A part of the run with one kind of load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Phase {
    /// What the load did.
    pub kind: PhaseKind,
    /// First moment.
    pub start_ns: u64,
    /// Moment after the last.
    pub end_ns: u64,
    /// Why it ended.
    pub end: PhaseEnd,
    /// The load, for phases that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

/// Where the run was made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Host {
    /// `uname -sr`.
    pub kernel: String,
    /// CPUs that the process may use.
    pub cpus: u32,
}

/// What the instrument saw of itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Instrument {
    /// How late the probe timer woke, per wake-up.
    pub timer_lateness: DelayHistogram,
    /// How late each probe left after it was due.
    pub send_lateness: DelayHistogram,
    /// How late the emulated line released each packet, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_lateness: Option<DelayHistogram>,
    /// Steps of the wall clock against the monotonic one during the run, each in seconds.
    #[serde(default)]
    pub clock_steps_s: Vec<f64>,
    /// Offset of the server's clock at the start of the run, and its uncertainty, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<[f64; 2]>,
    /// Drift of the server's clock against ours (1e-6 is one microsecond per second).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ratio: Option<f64>,
    /// Share of probe replies that carried a kernel receive timestamp.
    #[serde(default)]
    pub kernel_timestamp_ratio: f64,
}

/// A measurement, whatever made it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of the program that wrote it.
    pub tool_version: String,
    /// What made it: `test`, `demo`, `lab`, ...
    pub command: String,
    /// Wall time of the start, RFC 3339.
    pub started: String,
    /// One line for a person that says what was measured: the server, or the line's name.
    pub title: String,
    /// Where it was made.
    pub host: Host,
    /// Facts of the path and of the settings: server, address, line, flows.
    #[serde(default)]
    pub facts: BTreeMap<Fact, String>,
    /// Its parts, in order of time, not overlapping.
    pub phases: Vec<Phase>,
    /// All observations.
    pub series: Vec<Series>,
    /// The instrument's view of itself.
    pub instrument: Instrument,
    /// Why the run is not whole, if it is not: what was gathered until then is kept.
    #[serde(default, deserialize_with = "note::option", skip_serializing_if = "Option::is_none")]
    pub partial: Option<Interruption>,
    /// What captures show beside their series, for a run made of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Box<Capture>>,
    /// What a period of a watch has besides its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// What could not be measured, and why.
    #[serde(default, deserialize_with = "note::list")]
    pub notes: Vec<Note>,
}

/// A period of the history of one target.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// Name of the target.
    pub target: String,
    /// The clock of the household: each offset from UTC and since when it holds, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub utc_offsets: Vec<UtcOffset>,
    /// When the path to the target changed, in nanoseconds of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_changes_ns: Vec<u64>,
}

/// An offset from UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UtcOffset {
    /// Since when, in seconds since 1970-01-01 UTC.
    pub since_s: u64,
    /// Seconds east of UTC.
    pub offset_s: i64,
}

impl SeriesKey {
    /// A metric without direction, flow or scope.
    pub const fn of(metric: Metric) -> Self {
        SeriesKey { metric, direction: None, flow: None, scope: None }
    }
    /// A metric of one direction.
    pub const fn directed(metric: Metric, direction: Direction) -> Self {
        SeriesKey { metric, direction: Some(direction), flow: None, scope: None }
    }
}

impl Series {
    /// A series without observations.
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
    /// Appends one observation. Times must not decrease.
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
    /// All observations in order of time.
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
    /// Observations whose time lies in `phase`.
    pub fn within(&self, phase: &Phase) -> impl Iterator<Item = Observation> + '_ {
        self.between(Time::from_nanos(phase.start_ns), Time::from_nanos(phase.end_ns))
    }
}

impl Phase {
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }
}

impl Run {
    /// The first series of `key`.
    pub fn series(&self, key: &SeriesKey) -> Option<&Series> {
        self.series.iter().find(|s| s.key == *key)
    }
    /// The first phase of `kind`.
    pub fn phase(&self, kind: PhaseKind) -> Option<&Phase> {
        self.phases.iter().find(|p| p.kind == kind)
    }
}
