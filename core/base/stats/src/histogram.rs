//! A mergeable histogram of delays.
use crate::bins::{bin_of, lower_edge};
use crate::percentile_bin;
use alloc::collections::BTreeMap;
use fathom_units::Duration;
use serde::{Deserialize, Serialize};

/// Counts of delays in log-linear bins from 1 ns up; relative error of a percentile at most 3.1 %. Merging adds counts.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DelayHistogram {
    /// Bin number, as [`bin_of`] gives it, to count.
    bins: BTreeMap<u32, u64>,
    /// Largest delay recorded, exact.
    max_ns: u64,
}

/// A histogram as read, whose bins may not exist.
#[derive(Deserialize)]
struct Unchecked {
    bins: BTreeMap<u32, u64>,
    max_ns: u64,
}

impl TryFrom<Unchecked> for DelayHistogram {
    type Error = &'static str;
    fn try_from(Unchecked { bins, max_ns }: Unchecked) -> Result<Self, Self::Error> {
        if bins.keys().any(|bin| *bin > bin_of(u64::MAX)) {
            return Err("a histogram bin that no delay falls into");
        }
        // Counts of many histograms can then be added without overflow.
        if bins
            .values()
            .try_fold(0_u64, |sum, count| sum.checked_add(*count))
            .is_none_or(|sum| sum >> 48 != 0)
        {
            return Err("a histogram with more counts than any run has");
        }
        Ok(DelayHistogram { bins, max_ns })
    }
}

impl DelayHistogram {
    /// Counts one delay.
    pub fn record(&mut self, delay: Duration) {
        self.record_times(delay, 1);
    }
    /// Counts the same delay so many times.
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
    /// Largest delay recorded; zero if there is none.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }
    /// Lower edge of the bin that holds the smallest delay with at least `p` (0 to 1) of the counts at or below it.
    pub fn percentile(&self, p: f64) -> Option<Duration> {
        let bins = self.bins.iter().map(|(bin, count)| (*bin, *count));
        percentile_bin(bins, self.count(), p).map(|bin| Duration::from_nanos(lower_edge(bin)))
    }
    /// Lower edge of each used bin and its count, ascending.
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
