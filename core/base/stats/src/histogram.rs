//! A mergeable histogram of delays.
use alloc::collections::BTreeMap;
use fathom_units::Duration;
use serde::{Deserialize, Serialize};

/// Bins per factor of two: the upper edge of a bin is at most 1/32 (3.1 %) above its lower edge.
const BINS_PER_OCTAVE: u64 = 32;

/// Counts of delays in logarithmic bins from 1 ns up; relative error of a percentile at most 3.1 %. Merging adds counts.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DelayHistogram {
    /// Bin number to count; see [`DelayHistogram::lower_edge`].
    bins: BTreeMap<u64, u64>,
    /// Largest delay recorded, exact.
    max_ns: u64,
}

/// A histogram as read, whose bins may not exist.
#[derive(Deserialize)]
struct Unchecked {
    bins: BTreeMap<u64, u64>,
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
        let rank = libm::ceil(p * self.count() as f64).max(1.0) as u64;
        let mut below = 0;
        self.bins.iter().find_map(|(bin, count)| {
            below += count;
            (below >= rank).then(|| Duration::from_nanos(lower_edge(*bin)))
        })
    }
    /// Lower edge of each used bin and its count, ascending.
    pub fn bins(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.bins.iter().map(|(bin, count)| (Duration::from_nanos(lower_edge(*bin)), *count))
    }
}

/// Below 32 a bin holds one value; above, each octave has 32 bins.
fn bin_of(nanos: u64) -> u64 {
    if nanos < BINS_PER_OCTAVE {
        return nanos;
    }
    let shift = u64::from(nanos.ilog2() - BINS_PER_OCTAVE.ilog2());
    shift * BINS_PER_OCTAVE + (nanos >> shift)
}

fn lower_edge(bin: u64) -> u64 {
    if bin < 2 * BINS_PER_OCTAVE {
        return bin;
    }
    let shift = bin / BINS_PER_OCTAVE - 1;
    (bin - shift * BINS_PER_OCTAVE) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bin_and_bins_are_narrow() {
        for nanos in (0..70).chain((6..63).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << (e - 1)])) {
            let (low, next) = (lower_edge(bin_of(nanos)), lower_edge(bin_of(nanos) + 1));
            assert!(low <= nanos && nanos < next, "{nanos} not in {low}..{next}");
            assert!((next - low) as f64 <= (low as f64 / 32.0).max(1.0), "bin at {low} too wide");
        }
    }

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
