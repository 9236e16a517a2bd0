//! Whether values grow or fall with time.

/// Standard score of the Mann-Kendall test: positive if later values tend to be larger, about 0
/// without a trend. It asks for the order of the values only, so that neither their distribution
/// nor the shape of the trend matters. 0 for fewer than two values.
///
/// Source: Kendall, Rank correlation methods, 4th edition, 1975, with the variance without ties and
/// the correction for continuity.
pub fn mann_kendall(values: &[f64]) -> f64 {
    let sign = |from: f64, to: f64| i32::from(to > from) - i32::from(to < from);
    let later = |n: usize| values[n + 1..].iter().map(move |to| sign(values[n], *to)).sum::<i32>();
    let sum = f64::from((0..values.len()).map(later).sum::<i32>());
    let n = values.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    if sum == 0.0 {
        return 0.0;
    }
    (sum - sum.signum()) / libm::sqrt(variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fathom_units::Rng;

    #[test]
    fn a_published_example_is_reproduced() {
        // Gilbert, Statistical methods for environmental pollution monitoring, 1987, example 16.1:
        // 5, 6, 11, 8, 10 have S = 8 - 2 = 6.
        let score = mann_kendall(&[5.0, 6.0, 11.0, 8.0, 10.0]);
        assert!((score - 5.0 / libm::sqrt(50.0 / 3.0)).abs() < 1e-12, "{score}");
    }

    #[test]
    fn falling_is_the_opposite_of_growing() {
        let growing = [1.0, 2.0, 2.5, 7.0, 7.5, 9.0];
        let falling: Vec<f64> = growing.iter().rev().copied().collect();
        assert!(mann_kendall(&growing) > 2.0);
        assert_eq!(mann_kendall(&growing), -mann_kendall(&falling));
        for none in [&[][..], &[1.0], &[3.0; 9], &[f64::NAN; 3]] {
            assert_eq!(mann_kendall(none), 0.0);
        }
    }

    #[test]
    fn values_without_a_trend_seldom_have_a_score() {
        // The share of a normal distribution above 2.33 is 1 %.
        let above = (0..10_000).filter(|seed| {
            let mut rng = Rng::new(*seed);
            let values: Vec<f64> = (0..12).map(|_| rng.next_f64()).collect();
            mann_kendall(&values) > 2.33
        });
        let share = above.count() as f64 / 10_000.0;
        assert!((0.006..=0.012).contains(&share), "{share}");
    }
}
