//! Goodput and latency of each class of traffic of RRUL.
use crate::ClassSummary;
use crate::latency::answered;
use crate::sample::pair;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, PhaseKind, Run, SeriesKey, Span};
use fathom_stats::Sample;
use fathom_units::Direction;

/// Classes with the metric of their latency; CS5 has no probes (`rrul.conf` of flent).
const CLASSES: [(&str, Option<Metric>); 4] = [
    ("BE", Some(Metric::UdpRtt)),
    ("BK", Some(Metric::UdpBackgroundRtt)),
    ("CS5", None),
    ("EF", Some(Metric::UdpExpeditedRtt)),
];

/// The classes of the load in both directions; empty if its flows have none.
pub(crate) fn summaries(run: &Run) -> Vec<ClassSummary> {
    let Some(phase) = run.phase(PhaseKind::Both) else { return Vec::new() };
    let of = |(name, latency): (&str, Option<Metric>)| ClassSummary {
        name: name.to_string(),
        goodput_up_bits_per_second: goodput(run, Direction::Up, phase, name),
        goodput_down_bits_per_second: goodput(run, Direction::Down, phase, name),
        latency: latency.and_then(|m| answered(run.series(&SeriesKey::of(m))?, Span::of(phase))),
    };
    let has_load = |class: &ClassSummary| {
        class.goodput_up_bits_per_second.or(class.goodput_down_bits_per_second).is_some()
    };
    CLASSES.into_iter().map(of).filter(has_load).collect()
}

/// Mean of the flow of a class; `None` if there is none.
fn goodput(run: &Run, direction: Direction, phase: &Phase, class: &str) -> Option<f64> {
    let of_class = |key: &SeriesKey| {
        key.metric == Metric::Goodput
            && key.direction == Some(direction)
            && key.flow.is_some()
            && key.scope.as_deref() == Some(class)
    };
    let flow = run.series.iter().find(|series| of_class(&series.key))?;
    Sample::new(flow.within(phase).map(|o| pair(o.value))).mean_of_observed()
}
