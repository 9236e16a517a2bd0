//! Latency under load compared with idle latency, and the direction of the increase.
use crate::health::is_bloated;
use crate::rules::bound::still_growing;
use crate::rules::shaping;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Alternative, Certainty, Conclusion, Finding, FindingKind, LatencyIncrease, Metric, PhaseKind, SeriesKey,
    Statistic,
};
use fathom_stats::{percentile_of_sorted, sorted};
use fathom_units::Direction;

/// Share of the increase above which only one direction is named.
const ONE_SIDED: f64 = 0.7;
/// Largest difference between the delays that halves of the probes show, relative and in seconds:
/// that with which a delay counts as right (docs/score.md).
const RESOLVED: f64 = 0.02;
const RESOLVED_S: f64 = 0.001;
/// Smaller increases are not divided between directions.
const SMALL_S: f64 = 0.010;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().map(|rise| finding(view, &rise)).collect()
}

fn finding(view: &View<'_>, rise: &Rise<'_>) -> Finding {
    let mut finding = without_remedies(view, rise);
    if finding.kind() == FindingKind::Bufferbloat {
        finding.remedies = shaping::remedies(view, rise, finding.direction);
    }
    finding
}

fn without_remedies(view: &View<'_>, rise: &Rise<'_>) -> Finding {
    let place = place(rise);
    let halves = Halves::new(view, rise);
    let increase = LatencyIncrease {
        phase: rise.phase.kind,
        idle_p50_s: rise.idle.p50.value,
        loaded_p50_s: rise.loaded.p50.value,
        loaded_p90_s: rise.loaded.p90.value,
        loaded_max_s: rise.loaded.max.value,
        is_max_lower_bound: !halves.agree_on(1.0),
        is_approximate: ![0.5, 0.9].iter().all(|p| halves.agree_on(*p)),
        is_lower_bound: rise.loaded.p90.at_least || still_growing(view, rise),
        up_ratio: place.up_ratio,
    };
    let bloated = is_bloated(rise);
    let conclusion =
        if bloated { Conclusion::Bufferbloat(increase) } else { Conclusion::LowLatency(increase) };
    let certainty = if place.is_measured { Certainty::Certain } else { Certainty::Likely };
    let finding = Finding::new(conclusion, place.direction, certainty)
        .with_evidence(
            view.run
                .phase(PhaseKind::Idle)
                .and_then(|idle| view.latency_evidence(idle, Statistic::Percentile(0.5))),
        )
        .with_evidence(
            [Statistic::Percentile(0.5), Statistic::Percentile(0.9), Statistic::Max, Statistic::Count]
                .into_iter()
                .filter_map(|statistic| view.latency_evidence(rise.phase, statistic)),
        )
        .with_evidence(Direction::BOTH.into_iter().filter_map(|direction| {
            let key = SeriesKey::directed(Metric::OneWayDelay, direction);
            view.evidence(&key, rise.phase, Statistic::Percentile(0.5))
        }));
    match (bloated, place.is_measured) {
        (true, true) => finding.excluding(Alternative::OtherDirection),
        (true, false) => finding.or(Alternative::OtherDirection),
        (false, _) => finding,
    }
}

/// Delays above the idle latency after the start-up, in seconds, ascending: those of every second
/// probe, and those of the others. If they differ, probes were too few or too far apart.
struct Halves([Vec<f64>; 2]);

impl Halves {
    fn new(view: &View<'_>, rise: &Rise<'_>) -> Self {
        let from_ns = rise.steady().start_ns;
        let steady = view.latency_in(rise.phase).filter(|o| o.at.as_nanos() >= from_ns);
        let delays: Vec<f64> =
            steady.filter_map(|o| Some(o.value.observed()? - rise.idle.p50.value)).collect();
        Halves([0, 1].map(|first| sorted(delays.iter().skip(first).step_by(2).copied())))
    }
    /// Whether both halves show the same percentile `p` (0 to 1).
    fn agree_on(&self, p: f64) -> bool {
        let [one_s, other_s] =
            [0, 1].map(|half: usize| percentile_of_sorted(&self.0[half], p).unwrap_or(0.0));
        (one_s - other_s).abs() <= (RESOLVED * one_s.max(other_s)).max(RESOLVED_S)
    }
}

/// The direction in which packets wait in a phase, if it is one.
pub(super) fn direction_of(rise: &Rise<'_>) -> Option<Direction> {
    place(rise).direction
}

/// The direction in which packets wait.
struct Place {
    direction: Option<Direction>,
    /// Share of the increase on the uplink; `None` if it is unknown, or too small to be divided.
    up_ratio: Option<f64>,
    /// Inferred from one-way delays instead of from the loaded direction.
    is_measured: bool,
}

/// The direction is unknown where others fill a queue: their packets may wait instead.
fn place(rise: &Rise<'_>) -> Place {
    let loaded = match rise.phase.kind {
        PhaseKind::Up => Some(Direction::Up),
        PhaseKind::Down => Some(Direction::Down),
        _ => None,
    };
    if rise.has_other_traffic {
        return Place { direction: None, up_ratio: None, is_measured: false };
    }
    let (Some(up), Some(down)) = (rise.summary.increase_up_s, rise.summary.increase_down_s) else {
        return Place { direction: loaded, up_ratio: None, is_measured: false };
    };
    let (up, down) = (up.max(0.0), down.max(0.0));
    if up + down < SMALL_S {
        return Place { direction: loaded, up_ratio: None, is_measured: true };
    }
    let up_ratio = up / (up + down);
    let direction = match up_ratio {
        s if s >= ONE_SIDED => Some(Direction::Up),
        s if s <= 1.0 - ONE_SIDED => Some(Direction::Down),
        _ => None,
    };
    Place { direction, up_ratio: Some(up_ratio), is_measured: true }
}
