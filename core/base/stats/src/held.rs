//! Statistics over time, of values that each hold for a while.
use crate::{Bounded, Summary, median, percentile_bin};
use alloc::vec::Vec;

/// Longest interval between two values in which both hold, as a multiple of the median interval:
/// nothing is known of a longer pause. On a slow line, `fathom test` probes in intervals from 50 ms
/// to 0.4 s.
const LONGEST: f64 = 20.0;

/// A value and how long it held.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Held {
    /// The value, or a lower bound of it.
    pub value: f64,
    /// Only a lower bound is known.
    pub censored: bool,
    /// How long it held, in any unit; 0 counts as 1.
    pub time: u64,
}

/// How long each of the values holds that were observed at these ascending times: half of the
/// interval before it, and half of that after it. The first and the last one have a median interval
/// next to them.
pub fn times_held(observed: &[u64]) -> Vec<u64> {
    let gaps = || observed.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let outside = median(gaps().map(|gap| gap as f64)).unwrap_or(0.0);
    let longest = (LONGEST * outside) as u64;
    let around = |outer| core::iter::once(outer).chain(gaps().map(|gap| gap.min(longest))).chain([outer]);
    let (before, after) = (around(outside as u64), around(outside as u64).skip(1));
    before.zip(after).map(|(before, after)| u64::midpoint(before, after)).take(observed.len()).collect()
}

/// Statistics over time of values in any order: the percentile `p` is the smallest value that was
/// not exceeded during a fraction `p` of the time. `None` without values.
///
/// If all values held equally long, these are the percentiles of RFC 2330 section 11.3.
pub fn summary_over_time(values: &[Held]) -> Option<Summary> {
    let mut all: Vec<Held> = values.iter().copied().filter(|held| !held.value.is_nan()).collect();
    all.sort_by(|a, b| a.value.total_cmp(&b.value));
    let observed: Vec<Held> = all.iter().copied().filter(|held| !held.censored).collect();
    let largest = |of: &[Held], at_least| Some(Bounded { value: of.last()?.value, at_least });
    let time = total(&all);
    let at = |p: f64| {
        let within =
            |of: &[Held]| percentile_bin(of.iter().map(|held| (held.value, held.time.max(1))), time, p);
        let known = within(&observed).map(|value| Bounded { value, at_least: false });
        known.or_else(|| Some(Bounded { value: within(&all)?, at_least: true }))
    };
    let mean = observed.iter().map(|held| held.value * held.time.max(1) as f64).sum::<f64>();
    Some(Summary {
        count: all.len(),
        censored: all.len() - observed.len(),
        min: at(0.0)?,
        p50: at(0.5)?,
        p90: at(0.9)?,
        p95: at(0.95)?,
        p99: at(0.99)?,
        max: largest(&observed, false).or_else(|| largest(&all, true))?,
        mean_of_observed: (!observed.is_empty()).then(|| mean / total(&observed) as f64),
    })
}

fn total(values: &[Held]) -> u64 {
    values.iter().fold(0_u64, |sum, held| sum.saturating_add(held.time.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;
    use fathom_units::Rng;

    /// A value that holds for `n` units is as `n` values that hold for one.
    #[test]
    fn a_longer_time_is_as_more_values() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let mut one =
                || Held { value: rng.below(40) as f64, censored: rng.below(8) == 0, time: rng.below(6) };
            let values: Vec<Held> = (0..=seed % 50).map(|_| one()).collect();
            let repeated = values.iter().flat_map(|held| {
                core::iter::repeat_n((held.value, held.censored), held.time.max(1) as usize)
            });
            let (over_time, wanted) =
                (summary_over_time(&values).unwrap(), Sample::new(repeated).summary().unwrap());
            let mean_error =
                over_time.mean_of_observed.zip(wanted.mean_of_observed).map_or(0.0, |(a, b)| a - b);
            assert!(mean_error.abs() < 1e-9, "{seed}");
            let (count, censored) = (values.len(), values.iter().filter(|held| held.censored).count());
            let mean_of_observed = over_time.mean_of_observed;
            assert_eq!(over_time, Summary { count, censored, mean_of_observed, ..wanted }, "{seed}");
        }
    }

    #[test]
    fn a_value_holds_for_half_of_the_intervals_around_it() {
        assert_eq!(times_held(&[]), []);
        assert_eq!(times_held(&[7]), [0]);
        assert_eq!(times_held(&[0, 50, 100, 150]), [50, 50, 50, 50]);
        // 300 ms from 100 to 400: half of it for each.
        assert_eq!(times_held(&[0, 50, 100, 400, 450]), [50, 50, 175, 175, 50]);
        // A pause of an hour holds 20 intervals, half of them for each side.
        assert_eq!(times_held(&[0, 50, 100, 3_600_100, 3_600_150]), [50, 50, 525, 525, 50]);
        // Of bursts, the median interval is that within them.
        assert_eq!(times_held(&[0, 1, 2, 3, 100]), [1, 1, 1, 10, 10]);
    }

    #[test]
    fn values_of_no_time_and_none() {
        assert_eq!(summary_over_time(&[]), None);
        let nan = Held { value: f64::NAN, censored: false, time: 5 };
        assert_eq!(summary_over_time(&[nan]), None);
        let one = Held { value: 3.0, censored: false, time: 0 };
        assert_eq!(summary_over_time(&[one, nan]).unwrap().p50.value, 3.0);
        let forever = Held { time: u64::MAX, ..one };
        assert_eq!(summary_over_time(&[forever, forever, one]).unwrap().p99.value, 3.0);
    }
}
