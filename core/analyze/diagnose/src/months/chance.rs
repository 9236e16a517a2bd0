//! Probability of counts by chance.

/// Probability of at least `hits` in `tries`, each with probability `p`.
pub(super) fn at_least(hits: usize, tries: usize, p: f64) -> f64 {
    if hits == 0 || p >= 1.0 {
        return 1.0;
    }
    if hits > tries || p <= 0.0 {
        return 0.0;
    }
    // The first term is computed from its logarithm, each following term from the one before.
    let choose: f64 = (0..hits).map(|i| libm::log((tries - i) as f64 / (hits - i) as f64)).sum();
    let mut term =
        libm::exp(choose + hits as f64 * libm::log(p) + (tries - hits) as f64 * libm::log(1.0 - p));
    let mut sum = term;
    for k in hits..tries {
        term *= (tries - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_by_hand() {
        for (hits, tries, p, wanted) in [
            (0, 5, 0.3, 1.0),
            (5, 5, 0.5, 1.0 / 32.0),
            (1, 2, 0.5, 0.75),
            (2, 3, 0.1, 0.028),
            (3, 2, 0.5, 0.0),
            (1, 1, 0.25, 0.25),
        ] {
            assert!((at_least(hits, tries, p) - wanted).abs() < 1e-12, "{hits} of {tries} at {p}");
        }
        assert!(at_least(300, 400, 0.02) < 1e-300);
    }
}
