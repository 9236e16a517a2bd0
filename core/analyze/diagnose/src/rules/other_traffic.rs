//! A queue before the load of the test: somebody else uses the line.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, Finding, Metric, OtherTraffic, PhaseKind, SeriesKey, Statistic, threshold,
};
use fathom_units::Direction;

/// Share of the added delay that one direction must have to be named.
const MOSTLY: f64 = 0.8;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let traffic = before_load(view)?;
    let idle = view.run.phase(PhaseKind::Idle)?;
    let finding = Finding::new(Conclusion::OtherTraffic(traffic), place(view), Certainty::Likely);
    Some(finding.with_evidence(view.latency_evidence(idle, Statistic::Percentile(0.5))))
}

/// Latency of the idle phase, if it is longer than the shortest latency of the run by so much that
/// a load would be said to make the line slow.
pub(crate) fn before_load(view: &View<'_>) -> Option<OtherTraffic> {
    let idle = view.idle()?;
    let min_s = shortest(view)?;
    let (p50_s, p90_s) = (idle.p50.value, idle.p90.value);
    threshold::is_bloated(p50_s - min_s, p90_s - min_s).then_some(OtherTraffic { min_s, p50_s, p90_s })
}

/// Shortest latency of the run, in seconds.
pub(super) fn shortest(view: &View<'_>) -> Option<f64> {
    view.source?.iter().filter_map(|o| o.value.observed()).min_by(f64::total_cmp)
}

/// The direction in which packets waited, if one-way delays show it.
fn place(view: &View<'_>) -> Option<Direction> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let added = |direction: Direction| {
        let series = view.run.series(&SeriesKey::directed(Metric::OneWayDelay, direction))?;
        let min_s = series.iter().filter_map(|o| o.value.observed()).min_by(f64::total_cmp)?;
        Some(view.one_way(direction, idle).percentile(0.5)?.value - min_s)
    };
    let (up_s, down_s) = (added(Direction::Up)?, added(Direction::Down)?);
    let is_most = |part_s: f64| part_s >= MOSTLY * (up_s + down_s);
    [(Direction::Up, up_s), (Direction::Down, down_s)].into_iter().find(|(_, s)| is_most(*s)).map(|(d, _)| d)
}
