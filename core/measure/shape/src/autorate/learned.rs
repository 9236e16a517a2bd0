//! Statistics of the capacity for each hour of the week.
use super::observation::{HOURS, HourOfWeek};

/// Relative step by which each sample moves the estimates up or down, weighted so that in the long
/// run the desired share of samples lies below them (quantile by stochastic approximation; Robbins
/// and Monro, 1951).
const STEP: f64 = 0.04;
/// Quantile of `low`.
const LOW: f64 = 0.2;
/// Quantile of `high`.
const HIGH: f64 = 0.8;
/// Minimum number of samples of an hour.
const KNOWN: u32 = 10;

/// Capacity in one hour of the week, bit/s.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Hour {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) count: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Learned {
    hours: [Hour; HOURS],
}

impl Default for Learned {
    fn default() -> Self {
        Learned { hours: [Hour::default(); HOURS] }
    }
}

impl Learned {
    /// Records a capacity measured with a queue beyond the shaper, bit/s.
    pub(crate) fn sample(&mut self, hour: HourOfWeek, capacity: f64) {
        let known = &mut self.hours[hour.get()];
        if known.count == 0 {
            (known.low, known.high) = (capacity, capacity);
        }
        known.low = moved(known.low, capacity, LOW);
        known.high = moved(known.high, capacity, HIGH).max(known.low);
        known.count = known.count.saturating_add(1);
    }
    /// Statistics of an hour, if there are enough samples.
    pub(crate) fn at(&self, hour: HourOfWeek) -> Option<&Hour> {
        Some(&self.hours[hour.get()]).filter(|known| known.count >= KNOWN)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Hour)> {
        self.hours.iter().enumerate().filter(|(_, known)| known.count > 0)
    }
    pub(crate) fn set(&mut self, hour: HourOfWeek, known: Hour) {
        self.hours[hour.get()] = known;
    }
}

fn moved(estimate: f64, sample: f64, share: f64) -> f64 {
    let step = estimate * STEP;
    if sample > estimate {
        (estimate + step * share * 2.0).min(sample)
    } else {
        (estimate - step * (1.0 - share) * 2.0).max(sample)
    }
}
