//! What the line carried at each hour of the week.
use super::observation::{HOURS, HourOfWeek};

/// The estimates move by about this share of themselves a sample, by their own odds down or up, so that in the long run their
/// share of the samples lies below them (a quantile by stochastic approximation; Robbins and Monro, 1951).
const STEP: f64 = 0.04;
/// Of `low`.
const LOW: f64 = 0.2;
/// Of `high`.
const HIGH: f64 = 0.8;
/// From so many samples on an hour is known.
const KNOWN: u32 = 10;

/// Capacity in one hour of the week, bit/s.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Hour {
    /// A fifth of the samples were lower.
    pub(crate) low: f64,
    /// A fifth were higher.
    pub(crate) high: f64,
    /// How many.
    pub(crate) count: u32,
}

/// A week.
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
    /// A queue beyond ours told the capacity, bit/s.
    pub(crate) fn sample(&mut self, hour: HourOfWeek, capacity: f64) {
        let known = &mut self.hours[hour.get()];
        if known.count == 0 {
            (known.low, known.high) = (capacity, capacity);
        }
        known.low = moved(known.low, capacity, LOW);
        known.high = moved(known.high, capacity, HIGH).max(known.low);
        known.count = known.count.saturating_add(1);
    }
    /// What is known of an hour, if enough is.
    pub(crate) fn at(&self, hour: HourOfWeek) -> Option<&Hour> {
        Some(&self.hours[hour.get()]).filter(|known| known.count >= KNOWN)
    }
    /// Each hour of which something is known.
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
