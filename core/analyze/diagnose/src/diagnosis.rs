//! Data structures of a diagnosis.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Call, Finding, Game, Grade, Metric, PhaseEnd, PhaseKind, Reason, Remedy, Rpm, Score};
use fathom_stats::{Bounded, Summary};
use fathom_units::Direction;
use serde::Serialize;

/// Overall state of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Latency stays low under load.
    Healthy,
    /// Latency under load rises more than people or protocols tolerate.
    Bloated,
    /// The measurement itself could have caused the result, or could not load and probe the line.
    Invalid,
    /// The run lacks data for a verdict.
    #[default]
    Inconclusive,
}

/// Effects of a phase on applications.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Impact {
    /// Quality of a voice call.
    pub call: Call,
    /// Playable games.
    pub game: Game,
    /// Load time of the model page in seconds; requires a download goodput.
    pub page_load_s: Option<f64>,
}

/// Summary of one phase.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PhaseSummary {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Start, in seconds of the run.
    pub start_s: f64,
    /// Duration.
    pub duration_s: f64,
    /// Why it ended.
    pub end: PhaseEnd,
    /// Mean upload goodput of all load flows, without the first quarter of the phase.
    pub goodput_up_bits_per_second: Option<f64>,
    /// Mean download goodput of all load flows, without the first quarter of the phase.
    pub goodput_down_bits_per_second: Option<f64>,
    /// Jain's index of the flows' mean goodputs in the less fair direction; 1 if all are equal.
    pub fairness_index: Option<f64>,
    /// Round-trip latency in seconds, from [`Diagnosis::latency_source`].
    pub latency: Option<Summary>,
    /// 95 % confidence intervals of the median and the 90th percentile of the answered probes, in
    /// seconds. Without an upper end, it lies beyond all of them.
    pub intervals_s: Option<[(f64, Option<f64>); 2]>,
    /// Median minus the idle median, in seconds.
    pub increase_p50_s: Option<Bounded>,
    /// Median one-way delay on the uplink minus that of the idle phase, in seconds.
    pub increase_up_s: Option<f64>,
    /// Median one-way delay on the downlink minus that of the idle phase, in seconds.
    pub increase_down_s: Option<f64>,
    /// Ratio of probes without a response, 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Responsiveness; only for phases with load.
    pub rpm: Option<Rpm>,
    /// Grade of the mean increase; only for phases with load.
    pub grade: Option<Grade>,
    /// Effects on applications.
    pub impact: Option<Impact>,
}

/// Statistics of one kind of probe, or of one direction of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProbeStatistics {
    /// Its metric.
    pub metric: Metric,
    /// The direction of one-way delays.
    pub direction: Option<Direction>,
    /// Duplicate responses in the run.
    pub duplicates: u32,
    /// Responses after that to a later probe (RFC 4737), in the run.
    pub reordered: u32,
    /// Phases in time order.
    pub phases: Vec<PhaseProbes>,
}

/// One kind of probe in one phase.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PhaseProbes {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Number of probes.
    pub sent: usize,
    /// Ratio of probes without a response, 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Delay in seconds.
    pub delay: Option<Summary>,
    /// Variation of consecutive delays, in seconds: one way as in RFC 3550, otherwise the mean
    /// difference.
    pub jitter_s: Option<f64>,
    /// Packet delay variation (RFC 5481), in seconds.
    pub delay_variation_s: Option<f64>,
}

/// A class of traffic of RRUL, in the phase with load in both directions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassSummary {
    /// Its name: BE, BK, CS5 or EF.
    pub name: String,
    /// Mean upload goodput of its flow.
    pub goodput_up_bits_per_second: Option<f64>,
    /// Mean download goodput of its flow.
    pub goodput_down_bits_per_second: Option<f64>,
    /// Round trips of its UDP probes in seconds, if it has some.
    pub latency: Option<Summary>,
}

/// One measure of an application of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ApplicationStatistics {
    /// Name of the application.
    pub application: String,
    /// What is measured.
    pub measure: ApplicationMeasure,
    /// Its value in each kind of phase, in time order.
    pub phases: Vec<PhaseMeasure>,
}

/// A value of a kind of phase.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PhaseMeasure {
    /// Kind of load.
    pub phase: PhaseKind,
    /// The value, in the unit of its measure.
    #[serde(flatten)]
    pub measured: Bounded,
}

/// What is measured of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum ApplicationMeasure {
    /// Median load time of a page.
    #[serde(rename = "page_load_p50_s")]
    PageLoadP50,
    /// 95th percentile of the load time of a page.
    #[serde(rename = "page_load_p95_s")]
    PageLoadP95,
    /// Mean bitrate of the segments of a video.
    #[serde(rename = "video_rate_bits_per_second")]
    VideoRate,
    /// Number of stalls of a video.
    #[serde(rename = "video_stalls")]
    VideoStalls,
    /// Time that a video was stalled.
    #[serde(rename = "video_stalled_s")]
    VideoStalled,
    /// Median rating of a call in the worse direction.
    #[serde(rename = "call_mos")]
    CallMos,
    /// Mean share of a game's updates that missed their deadline in the worse direction.
    #[serde(rename = "deadline_misses_ratio")]
    DeadlineMisses,
}

impl ApplicationMeasure {
    /// All measures.
    pub const ALL: [ApplicationMeasure; 7] = [
        ApplicationMeasure::PageLoadP50,
        ApplicationMeasure::PageLoadP95,
        ApplicationMeasure::VideoRate,
        ApplicationMeasure::VideoStalls,
        ApplicationMeasure::VideoStalled,
        ApplicationMeasure::CallMos,
        ApplicationMeasure::DeadlineMisses,
    ];

    /// The metric that it is computed from.
    pub const fn metric(self) -> Metric {
        match self {
            ApplicationMeasure::PageLoadP50 | ApplicationMeasure::PageLoadP95 => Metric::PageLoad,
            ApplicationMeasure::VideoRate => Metric::VideoRate,
            ApplicationMeasure::VideoStalls | ApplicationMeasure::VideoStalled => Metric::VideoStall,
            ApplicationMeasure::CallMos => Metric::CallMos,
            ApplicationMeasure::DeadlineMisses => Metric::DeadlineMisses,
        }
    }
}

/// Diagnosis of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Diagnosis {
    /// Overall state of the line.
    pub health: Health,
    /// Why the run is invalid or inconclusive, if it is.
    pub reason: Option<Reason>,
    /// The phase with the largest latency increase, used for the headline.
    pub headline_phase: Option<PhaseKind>,
    /// Recommended actions, the most useful first.
    pub advice: Vec<Remedy>,
    /// Metric used as working latency; `None` if the run has none.
    pub latency_source: Option<Metric>,
    /// Worst grade of the phases with load.
    pub grade: Option<Grade>,
    /// Phases in time order.
    pub phases: Vec<PhaseSummary>,
    /// Each kind of probe of a test.
    pub probes: Vec<ProbeStatistics>,
    /// Each measure of the applications of a run.
    pub applications: Vec<ApplicationStatistics>,
    /// Each class of traffic of RRUL.
    pub classes: Vec<ClassSummary>,
    /// Scores of a test by other documents and tools.
    pub scores: Vec<Score>,
    /// All findings, the most important first.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Summary of the first phase of `kind`.
    pub fn phase(&self, kind: PhaseKind) -> Option<&PhaseSummary> {
        self.phases.iter().find(|p| p.kind == kind)
    }
    /// Summaries of the phases with load.
    pub fn loaded(&self) -> impl Iterator<Item = &PhaseSummary> {
        self.phases.iter().filter(|p| p.kind.is_loaded())
    }
}
