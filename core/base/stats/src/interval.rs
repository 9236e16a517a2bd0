//! Confidence intervals of percentiles of values that depend on each other.
use crate::{percentile_of_sorted, sorted};

/// Number of batches. Few long ones hold whole cycles of a sender, whose values depend on each
/// other, so that their means hardly do.
const BATCHES: usize = 5;
/// Least number of values.
const MIN_VALUES: usize = 12 * BATCHES;
/// Student's t for 95 % of a mean of [`BATCHES`] values, two-sided: 4 degrees of freedom.
const T: f64 = 2.776;

/// 95 % confidence interval of the percentile `p` (0 to 1) of a stationary process with these
/// values in time order; `None` with fewer than 60. Its upper end is unknown if it lies beyond the
/// largest value.
///
/// The interval has no assumption about the distribution: it lies between two order statistics.
/// How far apart they are follows from the method of batch means (Law, Simulation modeling and
/// analysis, 5th edition, 2015, section 9.5.3), for the share of values at or below the percentile.
pub fn percentile_interval(values: &[f64], p: f64) -> Option<(f64, Option<f64>)> {
    if values.len() < MIN_VALUES {
        return None;
    }
    let ascending = sorted(values.iter().copied());
    let level = percentile_of_sorted(&ascending, p)?;
    let length = values.len() / BATCHES;
    let below = |batch: &[f64]| batch.iter().filter(|value| **value <= level).count() as f64;
    let shares = || values.rchunks_exact(length).take(BATCHES).map(|batch| below(batch) / length as f64);
    let mean = shares().sum::<f64>() / BATCHES as f64;
    let variance = shares().map(|share| (share - mean) * (share - mean)).sum::<f64>() / (BATCHES - 1) as f64;
    // Batches may be alike by chance: values that depend on each other tell no more than others.
    let independent = p * (1.0 - p) / values.len() as f64;
    let margin = T * libm::sqrt((variance / BATCHES as f64).max(independent));
    let low = percentile_of_sorted(&ascending, (p - margin).max(0.0))?;
    Some((low, percentile_of_sorted(&ascending, p + margin).filter(|_| p + margin < 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fathom_units::Rng;

    /// Share of 300 intervals that hold the truth.
    fn coverage(p: f64, truth: f64, mut values: impl FnMut(&mut Rng) -> Vec<f64>) -> f64 {
        let mut holds = |seed| {
            let (low, high) = percentile_interval(&values(&mut Rng::new(seed)), p).unwrap();
            low <= truth && high.is_none_or(|high| truth <= high)
        };
        (0..300).filter(|seed| holds(*seed)).count() as f64 / 300.0
    }

    #[test]
    fn intervals_hold_the_truth() {
        let uniform = |rng: &mut Rng| (0..120).map(|_| rng.next_f64()).collect::<Vec<_>>();
        // Each value repeats ten times on average: the tenth of independent ones.
        let held = |rng: &mut Rng| {
            let mut last = rng.next_f64();
            let mut next = || {
                if rng.next_f64() < 0.1 {
                    last = rng.next_f64();
                }
                last
            };
            (0..600).map(|_| next()).collect::<Vec<_>>()
        };
        // A queue that a sender fills every 2 s, with a probe each 50 ms.
        let saw = |rng: &mut Rng| {
            let start = rng.next_f64();
            (0..240).map(|n| (start + f64::from(n) / 40.0) % 1.0).collect::<Vec<_>>()
        };
        for p in [0.5, 0.9] {
            assert!(coverage(p, p, uniform) >= 0.95, "{p}");
            assert!(coverage(p, p, held) >= 0.90, "{p}: {}", coverage(p, p, held));
            assert!(coverage(p, p, saw) >= 0.95, "{p}");
        }
    }

    #[test]
    fn an_interval_narrows_with_the_values_and_may_be_open() {
        let width = |count: usize| {
            let mut rng = Rng::new(1);
            let values: Vec<f64> = (0..count).map(|_| rng.next_f64()).collect();
            let (low, high) = percentile_interval(&values, 0.5).unwrap();
            high.unwrap() - low
        };
        assert!(width(60) < 0.6 && width(6_000) < 0.1, "{} {}", width(60), width(6_000));
        assert_eq!(percentile_interval(&[1.0; 59], 0.5), None);
        assert_eq!(percentile_interval(&[1.0; 60], 0.5), Some((1.0, Some(1.0))));
        let growing: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(percentile_interval(&growing, 0.9).unwrap().1, None);
    }
}
