//! A queue before the load of the test: somebody else uses the line.
use crate::latency::shortest;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Metric, PhaseKind, SeriesKey, Statistic};
use fathom_units::Direction;

/// Share of the added delay that one direction must have to be named.
const MOSTLY: f64 = 0.8;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let traffic = view.other_traffic.clone()?;
    let idle = view.run.phase(PhaseKind::Idle)?;
    let finding = Finding::new(Conclusion::OtherTraffic(traffic), place(view), Certainty::Likely);
    Some(finding.with_evidence(view.latency_evidence(idle, Statistic::Percentile(0.5))))
}

/// The direction in which packets waited before the load, if one-way delays show it.
pub(super) fn place(view: &View<'_>) -> Option<Direction> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let added = |direction: Direction| {
        let series = view.run.series(&SeriesKey::directed(Metric::OneWayDelay, direction))?;
        Some(view.one_way(direction, idle).percentile(0.5)?.value - shortest(series)?)
    };
    let (up_s, down_s) = (added(Direction::Up)?, added(Direction::Down)?);
    let is_most = |part_s: f64| part_s >= MOSTLY * (up_s + down_s);
    [(Direction::Up, up_s), (Direction::Down, down_s)].into_iter().find(|(_, s)| is_most(*s)).map(|(d, _)| d)
}
