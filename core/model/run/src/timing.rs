//! Durations of user-visible operations: page loads, transfers, requests.
use crate::{Metric, Observation, Series, SeriesKey, Value};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Direction, Duration, Time};

#[derive(Debug)]
struct Timing {
    metric: Metric,
    workload: u32,
    direction: Direction,
    began: Time,
    took: Option<Duration>,
}

/// All started operations.
#[derive(Default, Debug)]
pub struct Timings(Vec<Timing>);

impl Timings {
    /// Records the start of an operation and returns its number.
    pub fn begin(&mut self, metric: Metric, workload: u32, direction: Direction, now: Time) -> usize {
        self.0.push(Timing { metric, workload, direction, began: now, took: None });
        self.0.len() - 1
    }
    /// Records the end of an operation. Later ends of the same operation are ignored.
    pub fn finish(&mut self, number: usize, now: Time) {
        if let Some(timing) = self.0.get_mut(number) {
            timing.took.get_or_insert(now.saturating_since(timing.began));
        }
    }
    /// A series per metric and workload, with its name as scope; operations open at `end` are
    /// censored.
    pub fn series(&self, names: &[String], end: Time) -> Vec<Series> {
        let mut all: BTreeMap<(Metric, u32), Vec<&Timing>> = BTreeMap::new();
        for timing in &self.0 {
            all.entry((timing.metric, timing.workload)).or_default().push(timing);
        }
        let series = |((metric, workload), mut timings): ((Metric, u32), Vec<&Timing>)| {
            // Threads that start operations at the same time may record them in any order.
            timings.sort_by_key(|timing| timing.began);
            let scope = names.get(workload as usize).cloned();
            let direction = timings.first().map(|timing| timing.direction);
            let mut series = Series::new(SeriesKey { metric, direction, flow: None, scope });
            for timing in timings {
                let value = match timing.took {
                    Some(took) => Value::Observed(took.as_secs_f64()),
                    None => Value::Censored { at_least: end.saturating_since(timing.began).as_secs_f64() },
                };
                series.push(Observation { at: timing.began, value });
            }
            series
        };
        all.into_iter().map(series).collect()
    }
}
