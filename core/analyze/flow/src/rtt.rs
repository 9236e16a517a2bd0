//! Round trips as statistics.
use alloc::vec::Vec;
use fathom_stats::bins::{bin_of, lower_edge};
use fathom_stats::{DelayHistogram, percentile_bin};
use fathom_units::Duration;

/// Sums over values: enough for count, least, greatest, mean and standard deviation.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// The least; 0 if there is none.
    pub min: u64,
    /// The greatest; 0 if there is none.
    pub max: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Moments {
    /// One value more.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        // Signed, as that is one instruction: nothing that is measured is as long as 2^63 ns.
        let value = value as i64 as f64;
        self.sum += value;
        self.sum_of_squares += value * value;
    }
    /// The values of both.
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
    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
    /// The standard deviation of a sample; `None` below two values.
    pub fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        let variance = (self.sum_of_squares - mean * self.sum) / (self.count - 1) as f64;
        Some(libm::sqrt(variance.max(0.0)))
    }
}

/// So many values are listed before bins are counted: most flows are short, and a bin for each value between two is much for a few.
const MAX_LISTED: usize = 64;

/// A histogram that grows with the range of what it counts, from its least bin to its greatest: a step per value, and no search.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// The bin of each value, while they are few; then the counts of `first` and those after it.
    bins: Vec<u32>,
    first: u32,
    is_dense: bool,
    moments: Moments,
}

impl Tally {
    /// Counts one delay, ns.
    pub fn add(&mut self, nanos: u64) {
        self.moments.add(nanos);
        self.sort(nanos);
    }
    /// Counts one delay, ns, in its bin alone: [`Tally::sum_up`] is told of the others.
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
    /// These are the moments of what was sorted.
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
    /// Bins that are used and their counts, ascending.
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
    /// Count, least, greatest, mean and deviation, exact, ns.
    pub const fn moments(&self) -> &Moments {
        &self.moments
    }
    /// Lower edge of the bin that holds the least delay with at least `p` (0 to 1) of the counts at or below it, ns; never outside
    /// of what was counted.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        let bin = percentile_bin(self.counted(), self.moments.count, p)?;
        Some(lower_edge(bin).clamp(self.moments.min, self.moments.max))
    }
    /// The same counts in the form that results are kept in.
    pub fn histogram(&self) -> DelayHistogram {
        let mut histogram = DelayHistogram::default();
        for (bin, count) in self.counted() {
            let delay = lower_edge(bin).clamp(self.moments.min, self.moments.max);
            histogram.record_times(Duration::from_nanos(delay), count);
        }
        histogram
    }
}

/// Smoothed round trip and its variation, as a sender has them (RFC 6298 section 2).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Estimator {
    smoothed: u64,
    variation: u64,
    min: u64,
}

/// What a sender waits at least (Linux, `TCP_RTO_MIN`; RFC 6298 section 2.4 has 1 s, which few keep).
const MIN_RTO_NS: u64 = 200_000_000;
/// More than any round trip (2 years): a clock that leapt must not overflow the sums.
const MAX_NS: u64 = 1 << 56;
/// Before the first sample (RFC 6298 section 2.1).
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
    /// Of the whole path, of which this is one side of the capture point and `other` the other.
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
    /// The least; 0 before the first.
    pub(crate) const fn min(self) -> u64 {
        self.min
    }
    /// The retransmission timeout of a sender who saw the same.
    pub(crate) fn timeout(self) -> u64 {
        if self.smoothed == 0 { FIRST_RTO_NS } else { self.smoothed + (4 * self.variation).max(MIN_RTO_NS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    #[test]
    fn a_tally_has_the_percentiles_of_what_it_counted() {
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
