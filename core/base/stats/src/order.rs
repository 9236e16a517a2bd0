//! Percentiles and medians with one definition: nearest rank (RFC 2330 section 11.3).
//!
//! The percentile `p` (0 to 1) is the smallest value with at least a fraction `p` of all values at
//! or below it, so it is always one of the values. The median is the percentile 0.5: of an even
//! number of values, the lower of the two middle ones.
use alloc::vec::Vec;

/// Zero-based rank of the percentile `p` (0 to 1) of `count` ascending values; `None` without any.
///
/// A `p` below 0 or NaN gives the first value, a `p` above 1 the last.
pub fn rank(p: f64, count: u64) -> Option<u64> {
    let last = count.checked_sub(1)?;
    // The float closest to 0.07 is above 7/100, but of 100 values it must give rank 7, not 8. Both
    // the float and the product are rounded by half an epsilon each.
    let at_or_below = libm::ceil(p * count as f64 * (1.0 - 2.0 * f64::EPSILON));
    // A float cast saturates, and maps NaN to 0.
    Some((at_or_below as u64).saturating_sub(1).min(last))
}

/// Percentile `p` (0 to 1) of ascending values; `None` without values.
pub fn percentile_of_sorted<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let rank = rank(p, sorted.len() as u64)?;
    sorted.get(rank as usize).copied()
}

/// Percentile `p` (0 to 1) of values in any order, which it reorders; `None` without values.
pub fn percentile(values: &mut [f64], p: f64) -> Option<f64> {
    let rank = rank(p, values.len() as u64)?;
    Some(*values.select_nth_unstable_by(rank as usize, f64::total_cmp).1)
}

/// Median of values in any order: the percentile 0.5. `None` without values.
pub fn median<V: IntoIterator<Item = f64>>(values: V) -> Option<f64> {
    percentile(&mut values.into_iter().collect::<Vec<f64>>(), 0.5)
}

/// The bin with the percentile `p` (0 to 1) of `count` values, from ascending bins and counts.
pub fn percentile_bin<B>(bins: impl IntoIterator<Item = (B, u64)>, count: u64, p: f64) -> Option<B> {
    let rank = rank(p, count)?;
    let mut through: u64 = 0;
    let holds = |(_, in_bin): &(B, u64)| {
        through = through.saturating_add(*in_bin);
        through > rank
    };
    bins.into_iter().find(holds).map(|(bin, _)| bin)
}

/// The mean of the two middle values. For the spread of few values, where the lower middle value is
/// biased, and for SmokePing's `Median` matcher.
pub fn midpoint_median<V: IntoIterator<Item = f64>>(values: V) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// The upper of two middle values: SmokePing's median, of its rounds and in its `Medratio` matcher.
pub fn upper_median<V: IntoIterator<Item = f64>>(values: V) -> Option<f64> {
    let sorted = sorted(values);
    sorted.get(sorted.len() / 2).copied()
}

/// Returns the values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// The definition of RFC 2330, with `p` in thousandths so that nothing is rounded.
    fn naive(values: &[f64], thousandths: u64) -> Option<f64> {
        let at_or_below = |x: f64| values.iter().filter(|v| **v <= x).count() as u64;
        let enough = |x: &f64| at_or_below(*x) * 1000 >= thousandths * values.len() as u64;
        values.iter().copied().filter(enough).reduce(f64::min)
    }

    #[test]
    fn every_form_agrees_with_the_words_of_rfc_2330() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let count = rng.below(130);
            // Few distinct values, so that many are equal.
            let values: Vec<f64> = (0..count).map(|_| rng.below(1 + 2 * count) as f64).collect();
            let in_order = sorted(values.iter().copied());
            let mut bins: Vec<(f64, u64)> = Vec::new();
            for value in &in_order {
                match bins.last_mut() {
                    Some((last, times)) if last == value => *times += 1,
                    _ => bins.push((*value, 1)),
                }
            }
            for thousandths in (0..=1000).step_by(10).chain([1, 5, 995, 999]) {
                let (p, wanted) = (thousandths as f64 / 1000.0, naive(&values, thousandths));
                let context = (seed, count, thousandths);
                assert_eq!(percentile_of_sorted(&in_order, p), wanted, "{context:?}");
                assert_eq!(percentile(&mut values.clone(), p), wanted, "{context:?}");
                assert_eq!(percentile_bin(bins.iter().copied(), count, p), wanted, "{context:?}");
            }
            assert_eq!(median(values.iter().copied()), naive(&values, 500), "{seed}");
        }
    }

    #[test]
    fn ranks_are_exact_in_large_counts() {
        for count in [1, 2, 3, 99, 100, 101, 10_000, 123_457, 1_000_000, 86_400 * 366, 1 << 40] {
            for percent in 0..=100_u64 {
                let wanted = (u128::from(count) * u128::from(percent)).div_ceil(100).max(1) as u64 - 1;
                assert_eq!(rank(percent as f64 / 100.0, count), Some(wanted), "{percent} % of {count}");
            }
        }
        assert_eq!(rank(0.5, 0), None);
        assert_eq!([rank(-1.0, 5), rank(f64::NAN, 5), rank(2.0, 5)], [Some(0), Some(0), Some(4)]);
    }

    #[test]
    fn the_three_medians_of_two_middle_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(values), Some(2.0));
        assert_eq!(midpoint_median(values), Some(2.5));
        assert_eq!(upper_median(values), Some(3.0));
        for of in [median::<Vec<f64>>, midpoint_median::<Vec<f64>>, upper_median::<Vec<f64>>] {
            assert_eq!((of(Vec::from([7.0])), of(Vec::new())), (Some(7.0), None));
        }
    }
}
