//! Whether the load is still delivered at the same rate.
//!
//! The rate is stationary if no moment of the last 6 s separates faster half seconds from slower
//! ones, and it does not grow all the time. A line whose rate drops after a burst (a token bucket)
//! and senders that still accelerate are not stationary; a line whose rate fluctuates is.
use alloc::vec::Vec;
use fathom_stats::mann_kendall;
use fathom_units::{Duration, Time};

/// One rate is computed for each interval of this length.
const BUCKET: Duration = Duration::from_millis(500);
/// Number of rates that are compared: twice the time without growth that ends a phase.
const BUCKETS: usize = 12;
/// Minimum number of rates on each side of a change. One bucket may be a stall.
const SIDE: usize = 2;
/// A change exceeds the granularity of segments and reports.
const CHANGE_RATIO: f64 = 1.1;
/// Standard score of growth by chance in 1 % of all cases. Senders that lost packets at their start
/// do not fill a line with a short queue for seconds: four CUBIC flows on 50 Mbit/s with FQ-CoDel
/// and 100 ms of round trip have 31 Mbit/s after 1 s, 38 after 5 s, and then 3 % more each second.
const GROWTH_SCORE: f64 = 2.33;
/// Growth that matters, from the first half to the second one.
const GROWTH_RATIO: f64 = 1.03;
/// Divisor: slow start takes this part of the phase, and does not count as growth.
const START_SHARE: usize = 4;

/// Cumulative payload of one direction within a phase.
#[derive(Clone, Default, Debug)]
pub(crate) struct Delivered {
    /// Time and total bytes, at most one per tenth of a bucket.
    counts: Vec<(Time, u64)>,
}

impl Delivered {
    /// Records the total at `at`. Times and totals that decrease are ignored.
    pub(crate) fn count(&mut self, at: Time, total_bytes: u64) {
        let is_next = self
            .counts
            .last()
            .is_none_or(|(last, bytes)| at.saturating_since(*last) >= BUCKET / 10 && total_bytes >= *bytes);
        if is_next {
            self.counts.push((at, total_bytes));
        }
    }
    /// Whether the rate of the last 6 s has no lasting change and no growth; true if nothing was
    /// counted.
    pub(crate) fn is_stationary(&self) -> bool {
        let (rates, known) = (self.rates(), self.known());
        let start = (known / START_SHARE).saturating_sub(known - rates.len());
        !grows(&rates[start..])
            && (SIDE..=rates.len().saturating_sub(SIDE)).all(|at| {
                let (before, after) = rates.split_at(at);
                !is_above(before, after) && !is_above(after, before)
            })
    }
    /// Number of buckets since the first count.
    fn known(&self) -> usize {
        let (Some((first, _)), Some((last, _))) = (self.counts.first(), self.counts.last()) else { return 0 };
        (last.saturating_since(*first).as_nanos() / BUCKET.as_nanos()) as usize
    }
    /// Bytes in each of the last buckets, which end at the last count.
    fn rates(&self) -> Vec<f64> {
        let Some((last, _)) = self.counts.last() else { return Vec::new() };
        let count = self.known().min(BUCKETS);
        let ends = (0..=count).map(|n| self.total_at(last.saturating_sub(BUCKET * (count - n) as u64)));
        let totals: Vec<f64> = ends.collect();
        totals.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
    /// The total at `at`, interpolated.
    fn total_at(&self, at: Time) -> f64 {
        let next = self.counts.partition_point(|(time, _)| *time < at);
        let Some((t1, y1)) = self.counts.get(next).copied() else {
            return self.counts.last().map_or(0.0, |(_, bytes)| *bytes as f64);
        };
        let Some((t0, y0)) = next.checked_sub(1).and_then(|n| self.counts.get(n)).copied() else {
            return y1 as f64;
        };
        let share = at.saturating_since(t0).as_secs_f64() / t1.saturating_since(t0).as_secs_f64().max(1e-9);
        y0 as f64 + (y1 - y0) as f64 * share
    }
}

/// Whether later rates tend to be higher, by more than noise and by more than matters.
fn grows(rates: &[f64]) -> bool {
    let (earlier, later) = rates.split_at(rates.len() / 2);
    let mean = |half: &[f64]| half.iter().sum::<f64>() / half.len().max(1) as f64;
    mann_kendall(rates) > GROWTH_SCORE && mean(later) > GROWTH_RATIO * mean(earlier)
}

/// Whether all of `some` exceed all `others`, by more than noise.
fn is_above(some: &[f64], others: &[f64]) -> bool {
    let lowest = some.iter().copied().fold(f64::MAX, f64::min);
    let highest = others.iter().copied().fold(0.0, f64::max);
    lowest > CHANGE_RATIO * highest
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// Counts every 100 ms, with the rate in bytes/s at each time in seconds.
    fn counted(seconds: u64, rate: impl Fn(f64) -> f64) -> Delivered {
        let mut delivered = Delivered::default();
        let mut total = 0.0;
        for n in 0..=seconds * 10 {
            delivered.count(Time::from_nanos(n * 100_000_000), total as u64);
            total += rate(n as f64 / 10.0) / 10.0;
        }
        delivered
    }

    #[test]
    fn a_rate_that_dropped_within_six_seconds_is_not_stationary() {
        let boosted = |t: f64| if t < 5.0 { 1e6 } else { 250e3 };
        for seconds in 6..=10 {
            assert!(!counted(seconds, boosted).is_stationary(), "{seconds} s");
        }
        assert!(counted(4, boosted).is_stationary());
        assert!(counted(11, boosted).is_stationary());
    }

    #[test]
    fn senders_that_accelerate_are_not_stationary() {
        assert!(!counted(6, |t| 1e6 * (t / 6.0)).is_stationary());
    }

    #[test]
    fn senders_that_recover_slowly_are_not_stationary() {
        // Measured: see GROWTH_SCORE. From 6 s on, CUBIC reaches the rate of the line and keeps it.
        let recovering = |t: f64| match t {
            t if t < 1.0 => 5e6,
            t if t < 5.0 => 3.9e6 + 0.2e6 * t,
            t if t < 8.0 => 4.9e6 + 0.3e6 * (t - 5.0),
            _ => 5.8e6,
        };
        assert!(!counted(6, recovering).is_stationary());
        assert!(!counted(8, recovering).is_stationary());
        assert!(counted(13, recovering).is_stationary());
        assert!(counted(6, |t| 5e6 + 1e4 * t).is_stationary(), "1 %");
    }

    #[test]
    fn a_fluctuating_rate_is_stationary() {
        // A random order separates high from low factors now and then; the phase is a little longer
        // then.
        let stationary = (0..200).filter(|seed| {
            let mut rng = Rng::new(*seed);
            let factors: Vec<f64> = (0..20).map(|_| 0.6 + 0.8 * rng.next_f64()).collect();
            counted(9, |t| 1e6 * factors[(t * 2.0) as usize]).is_stationary()
        });
        assert!(stationary.count() >= 190);
    }

    #[test]
    fn hostile_counts_do_no_harm() {
        let mut delivered = Delivered::default();
        assert!(delivered.is_stationary());
        for (ns, bytes) in [(5, 7), (5, 3), (u64::MAX, u64::MAX), (0, 0), (u64::MAX, 1)] {
            delivered.count(Time::from_nanos(ns), bytes);
            let _ = delivered.is_stationary();
        }
    }
}
