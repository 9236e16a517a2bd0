//! Statistics of round-trip times.
use alloc::vec::Vec;
use fathom_stats::bins::{bin_of, lower_edge};
use fathom_stats::{DelayHistogram, percentile_bin};
use fathom_units::Duration;

/// Count, minimum, maximum, mean and standard deviation of values, from their sums.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Moments {
    /// Number of values.
    pub count: u64,
    /// Minimum; 0 without values.
    pub min: u64,
    /// Maximum; 0 without values.
    pub max: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        // Signed, because that conversion is a single instruction; all times are below 2^63 ns.
        let value = value as i64 as f64;
        self.sum += value;
        self.sum_of_squares += value * value;
    }
    pub(crate) fn with(self, other: Moments) -> Moments {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        Moments {
            count: self.count + other.count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
    }
    /// Mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
    /// Sample standard deviation; `None` with fewer than two values.
    pub fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        let variance = (self.sum_of_squares - mean * self.sum) / (self.count - 1) as f64;
        Some(libm::sqrt(variance.max(0.0)))
    }
}

/// Values are listed up to this number and counted in bins afterwards. Most flows are short, and an
/// array of bins from minimum to maximum would be large for a few values.
const MAX_LISTED: usize = 64;

/// A histogram with an array of bins from minimum to maximum, for constant time per value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// The bin of each value while there are few; later, counts starting at bin `first`.
    bins: Vec<u32>,
    first: u32,
    is_dense: bool,
    moments: Moments,
}

impl Tally {
    /// Adds a delay in ns.
    pub fn add(&mut self, nanos: u64) {
        self.moments.add(nanos);
        self.sort(nanos);
    }
    /// Adds a delay in ns to its bin only; [`Tally::sum_up`] sets the moments later.
    pub(crate) fn sort(&mut self, nanos: u64) {
        let bin = bin_of(nanos);
        if self.is_dense {
            self.count(bin);
        } else if self.bins.len() < MAX_LISTED {
            self.bins.push(bin);
        } else {
            let listed = core::mem::take(&mut self.bins);
            self.is_dense = true;
            self.first = bin;
            listed.into_iter().for_each(|each| self.count(each));
            self.count(bin);
        }
    }
    /// Sets the moments of all values added by [`Tally::sort`].
    pub(crate) const fn sum_up(&mut self, moments: Moments) {
        self.moments = moments;
    }
    fn count(&mut self, bin: u32) {
        if bin < self.first {
            let more = (self.first - bin) as usize;
            self.bins.splice(0..0, core::iter::repeat_n(0, more));
            self.first = bin;
        }
        let at = (bin - self.first) as usize;
        if at >= self.bins.len() {
            self.bins.resize(at + 1, 0);
        }
        if let Some(count) = self.bins.get_mut(at) {
            *count = count.saturating_add(1);
        }
    }
    /// Nonempty bins with their counts, in ascending order.
    fn counted(&self) -> Vec<(u32, u64)> {
        if self.is_dense {
            let all =
                self.bins.iter().enumerate().map(|(at, count)| (self.first + at as u32, u64::from(*count)));
            return all.filter(|(_, count)| *count > 0).collect();
        }
        let mut listed = self.bins.clone();
        listed.sort_unstable();
        listed.into_iter().map(|bin| (bin, 1)).collect()
    }
    /// Exact moments in ns.
    pub const fn moments(&self) -> &Moments {
        &self.moments
    }
    /// Lower edge of the percentile's bin in ns (`p` from 0 to 1), clamped to the values.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        let bin = percentile_bin(self.counted(), self.moments.count, p)?;
        Some(lower_edge(bin).clamp(self.moments.min, self.moments.max))
    }
    /// The counts as a histogram for results.
    pub fn histogram(&self) -> DelayHistogram {
        let mut histogram = DelayHistogram::default();
        for (bin, count) in self.counted() {
            let delay = lower_edge(bin).clamp(self.moments.min, self.moments.max);
            histogram.record_times(Duration::from_nanos(delay), count);
        }
        histogram
    }
}

/// Smoothed round-trip time and its variation, as a sender computes them (RFC 6298 section 2).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Estimator {
    smoothed: u64,
    variation: u64,
    min: u64,
}

/// Minimum timeout (Linux, `TCP_RTO_MIN`). Few implement the 1 s of RFC 6298 section 2.4.
const MIN_RTO_NS: u64 = 200_000_000;
/// 2 years, more than any round-trip time. A clock that jumps must not overflow the sums.
const MAX_NS: u64 = 1 << 56;
/// Timeout before the first sample (RFC 6298 section 2.1).
const FIRST_RTO_NS: u64 = 1_000_000_000;

impl Estimator {
    pub(crate) fn add(&mut self, nanos: u64) {
        let nanos = nanos.min(MAX_NS);
        if self.smoothed == 0 {
            *self = Estimator { smoothed: nanos.max(1), variation: nanos / 2, min: nanos };
            return;
        }
        self.min = self.min.min(nanos);
        self.variation = (3 * self.variation + self.smoothed.abs_diff(nanos)) / 4;
        self.smoothed = (7 * self.smoothed + nanos) / 8;
    }
    /// Estimate for the whole path; `self` and `other` are the two sides of the capture point.
    pub(crate) const fn with(self, other: Estimator) -> Estimator {
        Estimator {
            smoothed: self.smoothed + other.smoothed,
            variation: self.variation + other.variation,
            min: self.min + other.min,
        }
    }
    pub(crate) const fn smoothed(self) -> u64 {
        self.smoothed
    }
    /// Minimum; 0 before the first sample.
    pub(crate) const fn min(self) -> u64 {
        self.min
    }
    /// Retransmission timeout of a sender with these samples.
    pub(crate) fn timeout(self) -> u64 {
        if self.smoothed == 0 { FIRST_RTO_NS } else { self.smoothed + (4 * self.variation).max(MIN_RTO_NS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    #[test]
    fn a_tally_has_the_percentiles_of_its_values() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let mut draw = || {
                let mean = 1 << rng.below(40);
                rng.exponential(mean)
            };
            let count = if seed % 2 == 0 { 500 } else { 50 };
            let mut values: Vec<u64> = (0..count).map(|_| draw()).collect();
            let mut tally = Tally::default();
            values.iter().for_each(|v| tally.add(*v));
            values.sort_unstable();
            for p in [0.0, 0.05, 0.5, 0.95, 1.0] {
                let exact = values[((p * count as f64).ceil() as usize).max(1) - 1];
                let near = tally.percentile(p).unwrap();
                assert!(near <= exact && exact - near <= exact / 32, "seed {seed} p {p}: {near} for {exact}");
            }
            assert_eq!(tally.histogram().count(), count);
            assert_eq!((tally.moments().min, tally.moments().max), (values[0], values[values.len() - 1]));
        }
    }

    #[test]
    fn moments_by_hand() {
        let mut moments = Moments::default();
        [2, 4, 4, 4, 5, 5, 7, 9].iter().for_each(|v| moments.add(*v));
        assert_eq!(moments.mean(), Some(5.0));
        assert!((moments.standard_deviation().unwrap() - 2.138).abs() < 0.001);
    }

    #[test]
    fn the_timeout_of_rfc_6298() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.timeout(), 1_000_000_000);
        estimator.add(400_000_000);
        // SRTT = R, RTTVAR = R / 2: RTO = R + 4 R / 2.
        assert_eq!(estimator.timeout(), 1_200_000_000);
    }
}
