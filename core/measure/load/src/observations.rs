//! Series that are observed while a test runs.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_run::{Observation, Series, SeriesKey, Value};
use fathom_units::Time;

/// Takes the values of series, in any order of series.
pub trait Observe {
    /// Takes a value of a series.
    fn observe(&mut self, key: SeriesKey, at: Time, value: f64);
}

/// Series that are observed while a test runs.
#[derive(Clone, Default, Debug)]
pub struct Observations(BTreeMap<SeriesKey, Series>);

impl Observe for Observations {
    /// Records a value. The times of another clock are converted with an estimate that may be
    /// corrected backward a little, so a time before the last one counts as that.
    fn observe(&mut self, key: SeriesKey, at: Time, value: f64) {
        let series = self.0.entry(key.clone()).or_insert_with(|| Series::new(key));
        let at = series.at_ns.last().map_or(at, |last| at.max(Time::from_nanos(*last)));
        series.push(Observation { at, value: Value::Observed(value) });
    }
}

impl Observations {
    /// The latest value of a series.
    pub fn latest(&self, key: &SeriesKey) -> Option<f64> {
        self.0.get(key)?.values.last().copied()
    }
    /// Adds complete series; series without observations and failures are skipped.
    pub fn add(&mut self, series: impl IntoIterator<Item = Series>) {
        let useful = series.into_iter().filter(|s| !s.values.is_empty() || !s.not_sent.is_empty());
        self.0.extend(useful.map(|s| (s.key.clone(), s)));
    }
    /// Returns all series.
    pub fn take(&mut self) -> Vec<Series> {
        core::mem::take(&mut self.0).into_values().collect()
    }
}
