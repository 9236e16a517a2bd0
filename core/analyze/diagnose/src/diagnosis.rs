//! What a diagnosis is made of.
use alloc::vec::Vec;
use fathom_run::{Call, Finding, Game, Grade, Metric, PhaseEnd, PhaseKind, Reason, Remedy, Rpm};
use fathom_stats::{Bounded, Summary};
use serde::Serialize;

/// The line's state in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Latency stays low under load.
    Healthy,
    /// Latency rises under load by more than a person or a protocol should have to bear.
    Bloated,
    /// The instrument could have produced the result by itself, or could not load and probe the line.
    Invalid,
    /// The run does not hold what a verdict needs.
    #[default]
    Inconclusive,
}

/// What a phase would be like for a person.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Impact {
    /// A telephone call.
    pub call: Call,
    /// Games.
    pub game: Game,
    /// The model page, in seconds; needs a download goodput.
    pub page_load_s: Option<f64>,
}

/// One phase in numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PhaseSummary {
    /// What the load did.
    pub kind: PhaseKind,
    /// First moment, in seconds of the run.
    pub start_s: f64,
    /// Length.
    pub duration_s: f64,
    /// Why it ended.
    pub end: PhaseEnd,
    /// Mean goodput up, of the load flows together, after the first quarter of the phase.
    pub goodput_up_bits_per_second: Option<f64>,
    /// Mean goodput down, likewise.
    pub goodput_down_bits_per_second: Option<f64>,
    /// Jain's index of the mean goodputs of the load flows: 1 if all are equal. The less fair direction.
    pub fairness_index: Option<f64>,
    /// Round-trip latency in seconds, by [`Diagnosis::latency_source`].
    pub latency: Option<Summary>,
    /// Median less the idle median, in seconds.
    pub increase_p50_s: Option<Bounded>,
    /// Median one-way delay up less that of the idle phase, in seconds.
    pub increase_up_s: Option<f64>,
    /// Median one-way delay down less that of the idle phase, in seconds.
    pub increase_down_s: Option<f64>,
    /// Probes without an answer, 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Responsiveness; phases with load only.
    pub rpm: Option<Rpm>,
    /// Grade of the mean increase; phases with load only.
    pub grade: Option<Grade>,
    /// What it means for a person.
    pub impact: Option<Impact>,
}

/// What a run shows.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Diagnosis {
    /// The line's state in one word.
    pub health: Health,
    /// Why the run is invalid or inconclusive, if it is.
    pub reason: Option<Reason>,
    /// The phase with the largest increase of latency, which the headline is about.
    pub headline_phase: Option<PhaseKind>,
    /// What to do, the most useful first.
    pub advice: Vec<Remedy>,
    /// Which series is the working latency; `None` if the run has none.
    pub latency_source: Option<Metric>,
    /// Worst grade of the phases with load.
    pub grade: Option<Grade>,
    /// The phases in order of time.
    pub phases: Vec<PhaseSummary>,
    /// All findings, the weightiest first.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// The summary of the first phase of `kind`.
    pub fn phase(&self, kind: PhaseKind) -> Option<&PhaseSummary> {
        self.phases.iter().find(|p| p.kind == kind)
    }
    /// The phases with load.
    pub fn loaded(&self) -> impl Iterator<Item = &PhaseSummary> {
        self.phases.iter().filter(|p| matches!(p.kind, PhaseKind::Up | PhaseKind::Down | PhaseKind::Both))
    }
}
