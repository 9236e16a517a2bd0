//! Claims of a diagnosis against the truth.
mod advice;
mod delay;
mod event;
mod queue;

pub(crate) use delay::MAX_SEEN;

use crate::draw::Path;
use crate::measure::Measured;
use crate::truth::Truth;
use fathom_diagnose::Diagnosis;
use fathom_run::{Certainty, Conclusion, Finding, PhaseKind};

/// What a claim is about, in the order of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ClaimKind {
    Bloat,
    Direction,
    DelayP50,
    DelayP95,
    DelayMax,
    Capacity,
    RateChange,
    BufferSize,
    LimitKind,
    Management,
    WhichQueue,
    Outage,
    Loss,
    Policer,
    Filler,
    Advice,
}

impl ClaimKind {
    pub(crate) const ALL: [ClaimKind; 16] = [
        ClaimKind::Bloat,
        ClaimKind::Direction,
        ClaimKind::DelayP50,
        ClaimKind::DelayP95,
        ClaimKind::DelayMax,
        ClaimKind::Capacity,
        ClaimKind::RateChange,
        ClaimKind::BufferSize,
        ClaimKind::LimitKind,
        ClaimKind::Management,
        ClaimKind::WhichQueue,
        ClaimKind::Outage,
        ClaimKind::Loss,
        ClaimKind::Policer,
        ClaimKind::Filler,
        ClaimKind::Advice,
    ];
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ClaimKind::Bloat => "bloat",
            ClaimKind::Direction => "direction",
            ClaimKind::DelayP50 => "delay p50",
            ClaimKind::DelayP95 => "delay p95",
            ClaimKind::DelayMax => "delay max",
            ClaimKind::Capacity => "capacity",
            ClaimKind::RateChange => "rate change",
            ClaimKind::BufferSize => "buffer size",
            ClaimKind::LimitKind => "limit kind",
            ClaimKind::Management => "management",
            ClaimKind::WhichQueue => "which queue",
            ClaimKind::Outage => "outage",
            ClaimKind::Loss => "loss",
            ClaimKind::Policer => "policer",
            ClaimKind::Filler => "who filled it",
            ClaimKind::Advice => "advice helps",
        }
    }
}

/// A claim that the diagnosis made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Made {
    pub(crate) is_right: bool,
    /// Relative error of a quantity; `None` for a bound.
    pub(crate) error: Option<f64>,
    /// `None` where the diagnosis gives none.
    pub(crate) certainty: Option<Certainty>,
    /// The claim and the truth, for people.
    pub(crate) detail: String,
}

/// A claim that the diagnosis could make, or made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Claim {
    pub(crate) kind: ClaimKind,
    /// The phase or the direction, if it is about one.
    pub(crate) about: &'static str,
    /// The truth is of the kind that the claim is about.
    pub(crate) is_possible: bool,
    pub(crate) made: Option<Made>,
}

/// What all claims are judged by.
pub(crate) struct Case<'a> {
    pub(crate) path: &'a Path,
    pub(crate) measured: &'a Measured,
    pub(crate) truth: &'a Truth,
    pub(crate) diagnosis: &'a Diagnosis,
}

impl Case<'_> {
    /// Median latency without load, in seconds.
    pub(crate) fn idle_latency_s(&self) -> Option<f64> {
        Some(self.diagnosis.phase(PhaseKind::Idle)?.latency?.p50.value)
    }
    /// Findings for which `pick` returns parameters.
    fn findings<'d, T: 'd>(
        &'d self,
        pick: impl Fn(&'d Conclusion) -> Option<&'d T>,
    ) -> impl Iterator<Item = (&'d Finding, &'d T)> {
        self.diagnosis.findings.iter().filter_map(move |f| Some((f, pick(&f.conclusion)?)))
    }
}

pub(crate) fn claims(case: &Case<'_>) -> Vec<Claim> {
    let mut claims = delay::claims(case);
    claims.extend(queue::claims(case));
    claims.extend(event::claims(case));
    claims.extend(advice::claims(case));
    claims
}

impl Claim {
    fn new(kind: ClaimKind, is_possible: bool, made: Option<Made>) -> Self {
        Claim { kind, about: "", is_possible, made }
    }
    /// Names the phase or the direction.
    fn about(self, about: &'static str) -> Self {
        Claim { about, ..self }
    }
}

impl Made {
    fn new(is_right: bool, certainty: Option<Certainty>, detail: String) -> Self {
        Made { is_right, error: None, certainty, detail }
    }
}

/// Tolerance of a quantity: relative, and absolute in its unit. The larger one counts.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    ratio: f64,
    least: f64,
}

impl Tolerance {
    /// Of a delay: 2 %, or 1 ms.
    pub(crate) const DELAY: Tolerance = Tolerance { ratio: 0.02, least: 0.001 };
    /// Of the rate of a link: 3 %.
    pub(crate) const RATE: Tolerance = Tolerance { ratio: 0.03, least: 0.0 };

    fn of(self, truth: f64) -> f64 {
        (self.ratio * truth).max(self.least)
    }
    pub(crate) fn allows(self, claimed: f64, truth: f64) -> bool {
        (claimed - truth).abs() <= self.of(truth)
    }
}

/// A claimed quantity. A lower bound is right if the truth is at least that.
fn quantity(
    (claimed, is_lower_bound): (f64, bool),
    truth: f64,
    tolerance: Tolerance,
    certainty: Certainty,
    unit: &str,
) -> Made {
    let error = claimed - truth;
    let at_least = if is_lower_bound { "at least " } else { "" };
    Made {
        is_right: if is_lower_bound {
            error <= tolerance.of(truth)
        } else {
            tolerance.allows(claimed, truth)
        },
        error: (!is_lower_bound && truth > 0.0).then_some(error / truth),
        certainty: Some(certainty),
        detail: format!(
            "{at_least}{claimed:.6} {unit} for {truth:.6} ({:+.1} %)",
            error / truth.max(1e-9) * 100.0
        ),
    }
}
