//! Lost probes, by direction if that is known.
use crate::latency::losses;
use crate::sample::exceeds_capacity;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Metric, Phase, ProbeLoss, Series, SeriesKey, Span};
use fathom_units::Direction;

/// Minimum loss ratio to report: about the level that is audible in a call (1 %). Loss-based
/// congestion control always causes some loss.
const REPORTED_RATIO: f64 = 0.01;
/// Fewer lost probes give no meaningful ratio.
const MIN_LOST: u64 = 3;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.run.phases.iter().flat_map(|phase| in_phase(view, phase)).collect()
}

/// Whether this loss is reported.
pub(crate) fn is_reported(lost_packets: u64, sent_packets: u64) -> bool {
    lost_packets >= MIN_LOST && lost_packets as f64 >= REPORTED_RATIO * sent_packets as f64
}

/// Where a load of datagrams exceeds the capacity, probes are lost with them, which is no defect of
/// the line.
fn in_phase(view: &View<'_>, phase: &Phase) -> Vec<Finding> {
    let is_expected = |direction: &Direction| exceeds_capacity(view.run, *direction, phase);
    let directed = Direction::BOTH.into_iter().filter_map(|direction| {
        let series = view.run.series(&SeriesKey::directed(Metric::OneWayDelay, direction))?;
        finding(Some(direction), series, phase)
    });
    let by_direction: Vec<Finding> = directed.collect();
    if !by_direction.is_empty() {
        return by_direction.into_iter().filter(|f| !f.direction.as_ref().is_some_and(is_expected)).collect();
    }
    if Direction::BOTH.iter().any(is_expected) {
        return Vec::new();
    }
    view.source.and_then(|source| finding(None, source, phase)).into_iter().collect()
}

fn finding(direction: Option<Direction>, series: &Series, phase: &Phase) -> Option<Finding> {
    let (lost, known) = losses(series, Span::of(phase));
    if !is_reported(lost as u64, known as u64) {
        return None;
    }
    let loss = ProbeLoss { phase: phase.kind, lost_packets: lost as u64, sent_packets: known as u64 };
    is_reported(loss.lost_packets, loss.sent_packets)
        .then(|| Finding::new(Conclusion::ProbeLoss(loss), direction, Certainty::Certain))
}
