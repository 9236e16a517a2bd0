//! Lost probes, by direction if that is known.
use crate::sample::{pair, sample};
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Metric, Phase, ProbeLoss, SeriesKey};
use fathom_stats::{Sample, Summary};
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

fn in_phase(view: &View<'_>, phase: &Phase) -> Vec<Finding> {
    let directed = Direction::BOTH.map(|d| {
        let key = SeriesKey::directed(Metric::OneWayDelay, d);
        (Some(d), sample(view.run, &key, phase).summary())
    });
    let by_direction: Vec<Finding> =
        directed.into_iter().filter_map(|(d, s)| finding(d, s?, phase)).collect();
    if !by_direction.is_empty() {
        return by_direction;
    }
    let round_trip = Sample::new(view.latency_in(phase).map(|o| pair(o.value))).summary();
    round_trip.and_then(|s| finding(None, s, phase)).into_iter().collect()
}

fn finding(direction: Option<Direction>, summary: Summary, phase: &Phase) -> Option<Finding> {
    let loss = ProbeLoss {
        phase: phase.kind,
        lost_packets: summary.censored as u64,
        sent_packets: summary.count as u64,
    };
    is_reported(loss.lost_packets, loss.sent_packets)
        .then(|| Finding::new(Conclusion::ProbeLoss(loss), direction, Certainty::Certain))
}
