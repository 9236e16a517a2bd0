//! A mergeable histogram of delays.
use crate::bins::{bin_of, lower_edge};
use crate::percentile_bin;
use alloc::collections::BTreeMap;
use fathom_units::Duration;
use serde::{Deserialize, Serialize};

/// Counts of delays in log-linear bins from 1 ns up; percentiles are accurate to 3.1 %.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DelayHistogram {
    /// Count by bin number (see [`bin_of`]).
    bins: BTreeMap<u32, u64>,
    /// Maximum delay recorded, exact.
    max_ns: u64,
}

/// A deserialized histogram before validation.
#[derive(Deserialize)]
struct Unchecked {
    bins: BTreeMap<u32, u64>,
    max_ns: u64,
}

impl TryFrom<Unchecked> for DelayHistogram {
    type Error = &'static str;
    fn try_from(Unchecked { bins, max_ns }: Unchecked) -> Result<Self, Self::Error> {
        if bins.keys().any(|bin| *bin > bin_of(u64::MAX)) {
            return Err("histogram bin out of range");
        }
        // The bound keeps the sum of many histograms from overflowing.
        if bins
            .values()
            .try_fold(0_u64, |sum, count| sum.checked_add(*count))
            .is_none_or(|sum| sum >> 48 != 0)
        {
            return Err("histogram counts exceed 2^48");
        }
        Ok(DelayHistogram { bins, max_ns })
    }
}

impl DelayHistogram {
    /// Records one delay.
    pub fn record(&mut self, delay: Duration) {
        self.record_times(delay, 1);
    }
    /// Records the same delay `times` times.
    pub fn record_times(&mut self, delay: Duration, times: u64) {
        *self.bins.entry(bin_of(delay.as_nanos())).or_insert(0) += times;
        self.max_ns = self.max_ns.max(delay.as_nanos());
    }
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DelayHistogram) {
        for (bin, count) in &other.bins {
            *self.bins.entry(*bin).or_insert(0) += count;
        }
        self.max_ns = self.max_ns.max(other.max_ns);
    }
    /// Number of delays recorded.
    pub fn count(&self) -> u64 {
        self.bins.values().sum()
    }
    /// Maximum delay recorded; zero if there is none.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }
    /// Percentile `p` (0 to 1) as the lower edge of its bin; `None` if the histogram is empty.
    pub fn percentile(&self, p: f64) -> Option<Duration> {
        let bins = self.bins.iter().map(|(bin, count)| (*bin, *count));
        percentile_bin(bins, self.count(), p).map(|bin| Duration::from_nanos(lower_edge(bin)))
    }
    /// Lower edge and count of each non-empty bin, ascending.
    pub fn bins(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.bins.iter().map(|(bin, count)| (Duration::from_nanos(lower_edge(*bin)), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_and_merge() {
        let (mut a, mut b) = (DelayHistogram::default(), DelayHistogram::default());
        (1..=90).for_each(|_| a.record(Duration::from_nanos(10)));
        (1..=10).for_each(|_| b.record(Duration::from_millis(5)));
        a.merge(&b);
        assert_eq!(a.percentile(0.9), Some(Duration::from_nanos(10)));
        assert!(a.percentile(0.99).unwrap().as_millis_f64() > 4.8);
        assert_eq!((a.count(), a.max()), (100, Duration::from_millis(5)));
        assert_eq!(DelayHistogram::default().percentile(0.5), None);
    }
}
