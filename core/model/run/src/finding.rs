//! Findings: conclusions as data. `fathom-diagnose` alone makes them; `fathom-prose` alone puts them into words.
//!
//! A [`Finding`] has a kind with parameters, the evidence it rests on, a certainty, the alternatives that the evidence leaves open
//! and those that it excludes, and remedies. Nothing here is prose: a program can act on it, and wording can change freely.
use crate::{SeriesKey, Statistic};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

#[macro_use]
mod parameters;
mod audit;
mod reason;
mod shaper;

pub use audit::*;
pub use parameters::*;
pub use reason::{CpuCause, InstrumentPart, Reason};
pub use shaper::*;

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It fits the evidence, and so do the alternatives.
    Possible,
    /// It fits the evidence better than the alternatives.
    Likely,
    /// The evidence excludes the known alternatives.
    Certain,
}

macro_rules! findings {
    ($($variant:ident($parameters:ident) = $name:literal, $doc:literal;)*) => {
        /// What a finding is about. In files it is written by its [`FindingKind::name`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FindingKind {
            $(#[doc = $doc] $variant,)*
            /// A kind that this version does not know: it was written by a newer one.
            Unknown,
        }
        impl FindingKind {
            /// All kinds that this version makes.
            pub const ALL: &'static [FindingKind] = &[$(FindingKind::$variant,)*];
            /// Name in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$variant => $name,)*
                    FindingKind::Unknown => "unknown",
                }
            }
            /// What a finding of this kind says, in one sentence.
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
            /// A kind that this version does not know, as it was read.
            Unknown {
                /// Name of the kind.
                kind: String,
                /// Its parameters.
                parameters: Json,
            },
        }
        impl Conclusion {
            /// What it is about.
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
            /// The parameters as a JSON object; the unit of a number is the last word of its name.
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
        "Latency rises under load by more than a person or a protocol should have to bear.";
    LowLatency(LatencyIncrease) = "low_latency",
        "Latency stays low under load.";
    LatencyVariation(LatencyVariation) = "latency_variation",
        "How latency varies while the load is unknown.";
    QueueDelay(QueueDelay) = "queue_delay",
        "A captured queue delayed packets.";
    Outage(Outage) = "outage",
        "The link delivered nothing for a while.";
    BufferSize(BufferSize) = "buffer_size",
        "How many bytes a direction's queue held at its fullest.";
    Bottleneck(Bottleneck) = "bottleneck",
        "Rate of the link behind a captured queue, and the size of its buffer.";
    QueueManagement(Management) = "queue_management",
        "What limits a queue: its end (tail drop) or an AQM.";
    FillTime(FillTime) = "fill_time",
        "How fast the queue filled.";
    DrainTime(DrainTime) = "drain_time",
        "How long the queue took to empty after the load.";
    AckStarvation(AckStarvation) = "ack_starvation",
        "The download is slowed because its acknowledgements wait in the upload's queue.";
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
        "Packets were lost between two points of capture.";
    Reordering(Reordering) = "reordering",
        "Packets were reordered or duplicated between two points of capture.";
    Retransmission(FlowRetransmission) = "retransmission",
        "A flow sent segments again.";
    RecurringDelay(RecurringDelay) = "recurring_delay",
        "Delay rises at the same hours again and again.";
    RecurringLoss(RecurringLoss) = "recurring_loss",
        "Probes are lost at the same hours again and again.";
    OwnLoad(OwnLoad) = "own_load",
        "Traffic of this house itself fills a buffer.";
    BaseChange(BaseChange) = "base_change",
        "The least delay changed for good.";
    ShaperCheck(ShaperCheck) = "shaper_check",
        "Whether a test through a shaper met a requirement.";
    ShaperConflict(ShaperConflict) = "shaper_conflict",
        "Something makes a shaper useless or short-lived.";
    LowerBound(LowerBound) = "lower_bound",
        "The load may not show the line's worst.";
    Instrument(InstrumentEffect) = "instrument",
        "What the instrument did to the result.";
    BloatedQueue(QueuePoint) = "bloated_queue",
        "A queue of the host in front of a slow link, with more than 20 ms of delay when it is full.";
    QdiscBypass(QueuePoint) = "qdisc_bypass",
        "Packets bypass the queue disciplines of the host, including any shaper.";
    DarkBuffer(QueuePoint) = "dark_buffer",
        "A long queue of the host that is not in front of a slow link now, or a setting that can make one.";
    UnreadableQueue(QueuePoint) = "unreadable_queue",
        "A queue whose length cannot be read from files: it has to be measured.";
    HarmlessQueue(QueuePoint) = "harmless_queue",
        "A queue of the host that is short, managed, or not filled in practice.";
}

/// One conclusion and what it rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// What it is about, with its parameters.
    pub conclusion: Conclusion,
    /// The direction, where it has one.
    pub direction: Option<Direction>,
    /// How sure it is.
    pub certainty: Certainty,
    /// Statistics of the run's series that it rests on.
    pub evidence: Vec<Evidence>,
    /// Spans of the run in which it is best seen, the latest first.
    pub spans: Vec<Span>,
    /// Numbers of captured frames to look at.
    pub frames: Vec<u64>,
    /// What else would explain the evidence.
    pub alternatives: Vec<Alternative>,
    /// What the evidence excludes.
    pub excluded: Vec<Alternative>,
    /// What can be done about it.
    pub remedies: Vec<Remedy>,
}

/// A span of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Its start, in nanoseconds of the run.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

/// A statistic of one series over one span of time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// The series.
    #[serde(flatten)]
    pub series: SeriesKey,
    /// Which statistic, as in [`crate::Measure`]: `p50`, `max`, `count`, ...
    pub statistic: Statistic,
    /// Over which span.
    #[serde(flatten)]
    pub span: Span,
    /// The statistic, in the metric's unit or that of the statistic.
    pub value: f64,
}

/// The form in files.
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
    /// A finding without evidence, alternatives or remedies yet.
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
    /// What it is about.
    pub const fn kind(&self) -> FindingKind {
        self.conclusion.kind()
    }
    /// The queue point of a host that it is about, if it is a finding of an audit.
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
    /// With one more piece of evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
    /// With what else would explain the evidence.
    #[must_use]
    pub fn or(mut self, alternative: Alternative) -> Self {
        self.alternatives.push(alternative);
        self
    }
    /// With what the evidence excludes.
    #[must_use]
    pub fn excluding(mut self, alternative: Alternative) -> Self {
        self.excluded.push(alternative);
        self
    }
}
