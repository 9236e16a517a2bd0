//! Findings: conclusions as data. Only `fathom-diagnose` makes them, and only `fathom-prose` puts
//! them into words.
//!
//! A [`Finding`] has a kind with parameters, evidence, a certainty, alternatives that the evidence
//! leaves open or excludes, and remedies. Because nothing here is prose, programs can use findings
//! and wording can change freely.
use crate::{Phase, SeriesKey, Statistic};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Direction, Time};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

#[macro_use]
mod parameters;
mod audit;
mod effect;
mod months;
mod reason;
mod remedy;
mod shaper;
mod switch;

pub use audit::*;
pub use effect::*;
pub use months::*;
pub use parameters::*;
pub use reason::{CpuCause, InstrumentPart, Reason};
pub use remedy::*;
pub use shaper::*;
pub use switch::*;

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Fits the evidence, but so do the alternatives.
    Possible,
    /// Fits the evidence better than the alternatives.
    Likely,
    /// The evidence excludes the known alternatives.
    Certain,
}

macro_rules! findings {
    ($($variant:ident($parameters:ident) = $name:literal, $doc:literal;)*) => {
        /// Kind of a finding, written to files as its [`FindingKind::name`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FindingKind {
            $(#[doc = $doc] $variant,)*
            /// An unknown kind, written by a newer version.
            Unknown,
        }
        impl FindingKind {
            /// All known kinds.
            pub const ALL: &'static [FindingKind] = &[$(FindingKind::$variant,)*];
            /// Name in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$variant => $name,)*
                    FindingKind::Unknown => "unknown",
                }
            }
            /// Meaning of this kind, in one sentence.
            pub const fn definition(self) -> &'static str {
                match self {
                    $(FindingKind::$variant => $doc,)*
                    FindingKind::Unknown => "Written by a newer version.",
                }
            }
        }
        /// The conclusion of a finding, with its parameters.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Conclusion {
            $(#[doc = $doc] $variant($parameters),)*
            /// An unknown kind, preserved for writing.
            Unknown {
                /// Name of the kind.
                kind: String,
                /// Its parameters.
                parameters: Json,
            },
        }
        impl Conclusion {
            /// Kind of the conclusion.
            pub const fn kind(&self) -> FindingKind {
                match self {
                    $(Conclusion::$variant(_) => FindingKind::$variant,)*
                    Conclusion::Unknown { .. } => FindingKind::Unknown,
                }
            }
            /// Name of the kind in files.
            pub fn name(&self) -> &str {
                match self {
                    Conclusion::Unknown { kind, .. } => kind,
                    known => known.kind().name(),
                }
            }
            /// The parameters as a JSON object. The last word of a name gives the unit of a number.
            pub fn parameters(&self) -> Json {
                match self {
                    $(Conclusion::$variant(p) => serde_json::to_value(p).unwrap_or(Json::Null),)*
                    Conclusion::Unknown { parameters, .. } => parameters.clone(),
                }
            }
            fn from_parts(kind: String, parameters: Json) -> Result<Self, serde_json::Error> {
                match kind.as_str() {
                    $($name => Ok(Conclusion::$variant(serde_json::from_value(parameters)?)),)*
                    _ => Ok(Conclusion::Unknown { kind, parameters }),
                }
            }
        }
    };
}

findings! {
    Bufferbloat(LatencyIncrease) = "bufferbloat",
        "Latency under load rises by more than people or protocols tolerate.";
    LowLatency(LatencyIncrease) = "low_latency",
        "Latency stays low under load.";
    LatencyVariation(LatencyVariation) = "latency_variation",
        "How latency varies while the load is unknown.";
    QueueDelay(QueueDelay) = "queue_delay",
        "A captured queue delayed packets.";
    Outage(Outage) = "outage",
        "The link delivered nothing for a while.";
    BufferSize(BufferSize) = "buffer_size",
        "Largest queue of a direction, in bytes.";
    MeasuredBuffer(MeasuredBuffer) = "measured_buffer",
        "Buffer of a direction, its limit and its management, from bursts of datagrams.";
    PortOverload(PortOverload) = "port_overload",
        "Delay and loss while a port of a switch receives more than it can send.";
    LosslessBurst(LosslessBurst) = "lossless_burst",
        "Largest burst that a switch delivers without loss.";
    SharedBuffer(SharedBuffer) = "shared_buffer",
        "Whether the ports of a switch share a buffer.";
    HeadOfLineBlocking(HeadOfLineBlocking) = "head_of_line_blocking",
        "Whether a full port of a switch delays or loses frames to another port.";
    PauseFrames(PauseFrames) = "pause_frames",
        "Pause frames that a switch sent.";
    Bottleneck(Bottleneck) = "bottleneck",
        "Rate of the link that drains a captured queue, and the size of the buffer.";
    QueueManagement(Management) = "queue_management",
        "How a queue is managed: tail drop or an AQM.";
    RateChange(RateChange) = "rate_change",
        "The rate of the link changed under load.";
    OtherTraffic(OtherTraffic) = "other_traffic",
        "Packets waited in a queue before the load of the test.";
    LocalTraffic(LocalTraffic) = "local_traffic",
        "A program of this computer used the line during the test.";
    QueueLocation(QueueLocation) = "queue_location",
        "Between which two hops of the path packets wait.";
    UnknownLocation(UnknownLocation) = "unknown_location",
        "Why the hops of the path do not show where packets wait.";
    ExceededTimers(ExceededTimers) = "exceeded_timers",
        "Round trips are longer than timers of protocols.";
    StartUp(StartUp) = "start_up",
        "The start of the load raised latency for a short time.";
    DatagramLoss(DatagramLoss) = "datagram_loss",
        "Datagrams of a simulated program were lost.";
    FillTime(FillTime) = "fill_time",
        "Time in which the queue filled.";
    DrainTime(DrainTime) = "drain_time",
        "Time in which the queue drained after the load.";
    QueueEmptied(QueueEmptied) = "queue_emptied",
        "A queue emptied: replies to probes in a row arrived together.";
    AckStarvation(AckStarvation) = "ack_starvation",
        "The download is slow because its acknowledgments wait in the upload's queue.";
    Oscillation(Oscillation) = "oscillation",
        "A queue oscillates.";
    DelayedFlows(QueueVictims) = "delayed_flows",
        "Flows that waited in a queue without filling it.";
    DelayedProbes(DelayedProbes) = "delayed_probes",
        "Echoes, DNS queries or handshakes that waited in a queue.";
    Remarking(PathRemarking) = "remarking",
        "DSCP or ECN changes on the path.";
    ProbeLoss(ProbeLoss) = "probe_loss",
        "Probes were lost.";
    PathLoss(PathLoss) = "path_loss",
        "Packets were lost between two capture points.";
    Reordering(Reordering) = "reordering",
        "Packets were reordered or duplicated between two capture points.";
    Retransmission(FlowRetransmission) = "retransmission",
        "A flow retransmitted segments.";
    RecurringDelay(RecurringDelay) = "recurring_delay",
        "Delay rises repeatedly at the same hours.";
    RecurringLoss(RecurringLoss) = "recurring_loss",
        "Probes are lost repeatedly at the same hours.";
    OwnLoad(OwnLoad) = "own_load",
        "The household's own traffic fills a buffer.";
    BaseChange(BaseChange) = "base_change",
        "The minimum delay changed permanently.";
    ShaperCheck(ShaperCheck) = "shaper_check",
        "Whether a test through a shaper met a requirement.";
    ShaperConflict(ShaperConflict) = "shaper_conflict",
        "A condition disables a shaper or will remove it.";
    LowerBound(LowerBound) = "lower_bound",
        "Results are lower bounds, because the load may not have reached the worst case.";
    Instrument(InstrumentEffect) = "instrument",
        "How the measurement itself affected the result.";
    BloatedQueue(QueuePoint) = "bloated_queue",
        "A queue of the host in front of a slow link, with a worst-case delay above 20 ms.";
    QdiscBypass(QueuePoint) = "qdisc_bypass",
        "Packets bypass the queue disciplines of the host, including any shaper.";
    DarkBuffer(QueuePoint) = "dark_buffer",
        "A long queue of the host that is currently not in front of a slow link, or a setting that can create one.";
    UnreadableQueue(QueuePoint) = "unreadable_queue",
        "A queue with a length that cannot be read from files and has to be measured.";
    HarmlessQueue(QueuePoint) = "harmless_queue",
        "A queue of the host that is short, managed, or not filled in practice.";
}

/// A conclusion with its evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The conclusion with its parameters.
    pub conclusion: Conclusion,
    /// Direction of the traffic concerned, if there is one.
    pub direction: Option<Direction>,
    /// Certainty of the conclusion.
    pub certainty: Certainty,
    /// Statistics of the run's series that support it.
    pub evidence: Vec<Evidence>,
    /// Spans of the run that show it best, the latest first.
    pub spans: Vec<Span>,
    /// Numbers of the captured frames that show it.
    pub frames: Vec<u64>,
    /// Alternative explanations of the evidence.
    pub alternatives: Vec<Alternative>,
    /// Alternatives that the evidence excludes.
    pub excluded: Vec<Alternative>,
    /// Recommended actions.
    pub remedies: Vec<Remedy>,
}

/// A time span of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Start, in nanoseconds on the clock of the run.
    pub start_ns: u64,
    /// End, in nanoseconds on the clock of the run.
    pub end_ns: u64,
}

impl Span {
    /// The span of a phase.
    pub const fn of(phase: &Phase) -> Self {
        Span { start_ns: phase.start_ns, end_ns: phase.end_ns }
    }
    /// The span that starts at `start` and lasts for `seconds`.
    pub fn after(start: Time, seconds: f64) -> Self {
        let start_ns = start.as_nanos();
        Span { start_ns, end_ns: start_ns.saturating_add((seconds * 1e9) as u64) }
    }
    /// Duration in nanoseconds; zero if the end is before the start.
    pub const fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
    /// Duration in seconds.
    pub fn seconds(self) -> f64 {
        self.length_ns() as f64 / 1e9
    }
    /// The time that both spans have in common; empty if there is none.
    #[must_use]
    pub fn overlap(self, other: Span) -> Span {
        let start_ns = self.start_ns.max(other.start_ns);
        Span { start_ns, end_ns: self.end_ns.min(other.end_ns).max(start_ns) }
    }
}

/// A statistic of one series over a span of time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// The series.
    #[serde(flatten)]
    pub series: SeriesKey,
    /// The statistic, as in [`crate::Measure`]: `p50`, `max`, `count`, ...
    pub statistic: Statistic,
    /// The span.
    #[serde(flatten)]
    pub span: Span,
    /// Value in the unit of the statistic or of the metric.
    pub value: f64,
}

/// Serialized form of a finding.
#[derive(Serialize, Deserialize)]
struct Written {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
    certainty: Certainty,
    parameters: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spans: Vec<Span>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    frames: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<Alternative>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    excluded: Vec<Alternative>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remedies: Vec<Remedy>,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            kind: String::from(self.conclusion.name()),
            direction: self.direction,
            certainty: self.certainty,
            parameters: self.conclusion.parameters(),
            evidence: self.evidence.clone(),
            spans: self.spans.clone(),
            frames: self.frames.clone(),
            alternatives: self.alternatives.clone(),
            excluded: self.excluded.clone(),
            remedies: self.remedies.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let conclusion =
            Conclusion::from_parts(written.kind, written.parameters).map_err(D::Error::custom)?;
        Ok(Finding {
            conclusion,
            direction: written.direction,
            certainty: written.certainty,
            evidence: written.evidence,
            spans: written.spans,
            frames: written.frames,
            alternatives: written.alternatives,
            excluded: written.excluded,
            remedies: written.remedies,
        })
    }
}

impl Finding {
    /// Creates a finding without evidence, alternatives or remedies.
    pub const fn new(conclusion: Conclusion, direction: Option<Direction>, certainty: Certainty) -> Self {
        Finding {
            conclusion,
            direction,
            certainty,
            evidence: Vec::new(),
            spans: Vec::new(),
            frames: Vec::new(),
            alternatives: Vec::new(),
            excluded: Vec::new(),
            remedies: Vec::new(),
        }
    }
    /// Kind of the conclusion.
    pub const fn kind(&self) -> FindingKind {
        self.conclusion.kind()
    }
    /// The queue point of an audit finding.
    pub const fn queue_point(&self) -> Option<&QueuePoint> {
        match &self.conclusion {
            Conclusion::BloatedQueue(point)
            | Conclusion::QdiscBypass(point)
            | Conclusion::DarkBuffer(point)
            | Conclusion::UnreadableQueue(point)
            | Conclusion::HarmlessQueue(point) => Some(point),
            _ => None,
        }
    }
    /// Adds evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
    /// Adds an alternative explanation.
    #[must_use]
    pub fn or(mut self, alternative: Alternative) -> Self {
        self.alternatives.push(alternative);
        self
    }
    /// Adds an alternative that the evidence excludes.
    #[must_use]
    pub fn excluding(mut self, alternative: Alternative) -> Self {
        self.excluded.push(alternative);
        self
    }
}
