//! Probes that were lost, by direction where that is known.
use crate::rules::while_doing;
use crate::view::{View, sample};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, SeriesKey};
use fathom_stats::{Sample, Summary};
use fathom_text::percent;
use fathom_units::Direction;

/// Loss from which a person hears it in a call (about 1 %); less is the price of any congestion control by loss.
const WORTH_TELLING: f64 = 0.01;
/// A single lost probe tells nothing.
const FEWEST: usize = 3;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.run.phases.iter().flat_map(|phase| in_phase(view, phase)).collect()
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
    let round_trip = Sample::new(view.latency_in(phase).map(|o| crate::view::pair(o.value))).summary();
    round_trip.and_then(|s| finding(None, s, phase)).into_iter().collect()
}

fn finding(direction: Option<Direction>, summary: Summary, phase: &Phase) -> Option<Finding> {
    let ratio = summary.censored_ratio();
    if ratio < WORTH_TELLING || summary.censored < FEWEST {
        return None;
    }
    let way = match direction {
        Some(Direction::Up) => " on the way up",
        Some(Direction::Down) => " on the way down",
        None => "",
    };
    let text = format!(
        "{} of {} probes were lost{way} {} ({}).",
        summary.censored,
        summary.count,
        while_doing(phase.kind),
        percent(ratio)
    );
    let finding = Finding::new(FindingKind::Loss, direction, Confidence::High, text)
        .evidence("probes without an answer", summary.censored as f64, "packets")
        .evidence("probes sent", summary.count as f64, "packets");
    Some(finding)
}
