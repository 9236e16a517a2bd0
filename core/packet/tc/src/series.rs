//! Converts the kernel's queue counters to the metrics of a run.
use crate::stats::{Detail, Stats};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};

/// Backlog, drops and marks of a queue that was sampled several times; for CAKE also per tin, with
/// scope `QUEUE tin N`. Kinds that do not report marks have no such series.
#[must_use]
pub fn series_of(queue: &str, direction: Direction, looks: &[(Time, Stats)]) -> Vec<Series> {
    let mut all = Vec::new();
    for (at, stats) in looks {
        let marks = stats.marks().map(|marks| marks as f64);
        let seen = [Some(f64::from(stats.backlog_bytes)), Some(f64::from(stats.drops)), marks];
        add(&mut all, queue, direction, *at, seen);
        let Detail::Cake(cake) = &stats.detail else { continue };
        for (number, tin) in cake.tins.iter().enumerate() {
            let numbers = [tin.backlog_bytes, tin.drops, tin.marks].map(|n| Some(f64::from(n)));
            add(&mut all, &format!("{queue} tin {number}"), direction, *at, numbers);
        }
    }
    all
}

/// Adds one sample: backlog, drops, marks.
fn add(all: &mut Vec<Series>, scope: &str, direction: Direction, at: Time, seen: [Option<f64>; 3]) {
    let metrics = [Metric::Backlog, Metric::QueueDrops, Metric::QueueMarks];
    for (metric, value) in metrics.into_iter().zip(seen) {
        let Some(value) = value else { continue };
        let key = key(metric, direction, scope.to_string());
        let known = all.iter().position(|series| series.key == key);
        let place = known.unwrap_or_else(|| {
            all.push(Series::new(key));
            all.len() - 1
        });
        all[place].push(Observation { at, value: Value::Observed(value) });
    }
}

fn key(metric: Metric, direction: Direction, scope: String) -> SeriesKey {
    SeriesKey { metric, direction: Some(direction), flow: None, scope: Some(scope) }
}
