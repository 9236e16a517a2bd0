//! Observations within one phase of a run.
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_stats::Sample;
use fathom_units::{Direction, Time};

/// Share of lost datagrams of a load from which its loss is reported as that of probes is.
const EXCESS_RATIO: f64 = 0.01;

/// The phase in which only this direction is loaded.
pub(crate) const fn alone(direction: Direction) -> PhaseKind {
    match direction {
        Direction::Up => PhaseKind::Up,
        Direction::Down => PhaseKind::Down,
    }
}

/// Observations of a series within `phase`; empty without such a series.
pub(crate) fn sample(run: &Run, key: &SeriesKey, phase: &Phase) -> Sample {
    Sample::new(run.series(key).into_iter().flat_map(|s| s.within(phase)).map(|o| pair(o.value)))
}

/// The value, and whether it is censored.
pub(crate) const fn pair(value: Value) -> (f64, bool) {
    match value {
        Value::Observed(v) => (v, false),
        Value::Censored { at_least } => (at_least, true),
    }
}

/// Whether losses of the load in this direction were recorded. Most servers do not report
/// those of downloads.
pub(crate) fn records_losses(run: &Run, direction: Direction) -> bool {
    lost_counts(run, direction).next().is_some()
}

/// Counts of lost packets of the load's flows in a direction: retransmissions, or lost datagrams.
fn lost_counts(run: &Run, direction: Direction) -> impl Iterator<Item = &Series> {
    [Metric::FlowRetransmits, Metric::FlowLost]
        .into_iter()
        .flat_map(move |metric| of_flows(run, metric, direction))
}

/// Mean share of the datagrams of a UDP load that were lost in a direction during a phase; `None`
/// without such a load.
pub fn load_loss_ratio(run: &Run, direction: Direction, phase: &Phase) -> Option<f64> {
    sample(run, &SeriesKey::directed(Metric::LoadLoss, direction), phase).mean_of_observed()
}

/// Whether a UDP load lost so much that it probably exceeded the capacity of the line.
pub(crate) fn exceeds_capacity(run: &Run, direction: Direction, phase: &Phase) -> bool {
    load_loss_ratio(run, direction, phase).is_some_and(|ratio| ratio >= EXCESS_RATIO)
}

/// Whether the load of a phase delivered data in either direction; true if unknown.
pub(crate) fn has_delivered(phase: &Phase) -> bool {
    phase.load.as_ref().is_none_or(|load| load.delivered_up_bytes > 0 || load.delivered_down_bytes > 0)
}

/// The series of a metric of the load's flows in a direction.
pub(crate) fn of_flows(run: &Run, metric: Metric, direction: Direction) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(move |s| s.key.metric == metric && s.key.direction == Some(direction))
}

/// Times at which the count of lost packets of a flow in this direction increased.
pub(crate) fn loss_events(run: &Run, direction: Direction, phase: &Phase) -> Vec<Time> {
    let mut times = Vec::new();
    for series in lost_counts(run, direction) {
        let mut before = None;
        for o in series.within(phase) {
            if let Value::Observed(count) = o.value {
                if before.is_some_and(|b| count > b) {
                    times.push(o.at);
                }
                before = Some(count);
            }
        }
    }
    times
}
