//! What users waited for in a scenario's workloads, for comparisons.
use crate::quantity::{Quantity, Unit};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Metric, Run, Value};
use fathom_stats::Sample;
use fathom_units::Direction;

/// Metric, how it is called, its unit.
const MEASURES: [(Metric, &str, Unit); 9] = [
    (Metric::PageLoad, "page", Unit::Seconds),
    (Metric::FlowCompletion, "transfer", Unit::Seconds),
    (Metric::Request, "request", Unit::Milliseconds),
    (Metric::PacketDelay, "packet delay", Unit::Milliseconds),
    (Metric::UpdateLateness, "lateness", Unit::Milliseconds),
    (Metric::CallMos, "call quality", Unit::Score),
    (Metric::DeadlineMisses, "too late", Unit::Ratio),
    (Metric::VideoRate, "bitrate", Unit::Rate),
    (Metric::VideoStall, "stall", Unit::Seconds),
];

/// Median and bad end of everything that at least one of the runs has, by workload.
pub(crate) fn quantities(runs: &[&Run]) -> Vec<Quantity> {
    let all = runs.iter().flat_map(|run| &run.series);
    let scopes: BTreeSet<&str> = all
        .filter(|series| MEASURES.iter().any(|(metric, ..)| *metric == series.key.metric))
        .filter_map(|series| series.key.scope.as_deref())
        .collect();
    let of_scope = |scope| MEASURES.iter().flat_map(move |measure| of_measure(runs, scope, *measure));
    scopes.into_iter().flat_map(of_scope).collect()
}

fn of_measure(runs: &[&Run], scope: &str, (metric, called, unit): (Metric, &str, Unit)) -> Vec<Quantity> {
    let less_is_better = !matches!(metric, Metric::CallMos | Metric::VideoRate);
    let bad_end = if less_is_better { (0.95, "p95") } else { (0.05, "p5") };
    let mut rows = Vec::new();
    for direction in Direction::BOTH {
        let samples: Vec<Sample> = runs.iter().map(|run| sample(run, scope, metric, direction)).collect();
        if samples.iter().all(|sample| sample.is_empty()) {
            continue;
        }
        // The others have but one direction.
        let both_ways = matches!(
            metric,
            Metric::PacketDelay | Metric::UpdateLateness | Metric::CallMos | Metric::DeadlineMisses
        );
        let way = match direction {
            Direction::Up if both_ways => " up",
            Direction::Down if both_ways => " down",
            _ => "",
        };
        for (share, statistic) in [(0.5, "median"), bad_end] {
            let value = |sample: &Sample| sample.percentile(share).map(|bounded| bounded.value);
            rows.push(Quantity {
                group: format!("workload {scope}"),
                name: format!("{called}{way}, {statistic}"),
                unit,
                less_is_better,
                values: samples.iter().map(value).collect(),
            });
        }
    }
    rows
}

/// Of all flows of the workload together.
fn sample(run: &Run, scope: &str, metric: Metric, direction: Direction) -> Sample {
    let series = run.series.iter().filter(|series| {
        let key = &series.key;
        key.metric == metric && key.direction == Some(direction) && key.scope.as_deref() == Some(scope)
    });
    Sample::new(series.flat_map(|series| series.iter()).map(|observation| match observation.value {
        Value::Observed(value) => (value, false),
        Value::Censored { at_least } => (at_least, true),
    }))
}
