use super::*;
use fathom_units::Rng;

fn exactly(value: f64) -> Option<Bounded> {
    Some(Bounded { value, at_least: false })
}
fn at_least(value: f64) -> Option<Bounded> {
    Some(Bounded { value, at_least: true })
}

#[test]
fn percentiles_of_rfc_2330() {
    // The example of RFC 2330 section 11.3: -2, 7, 7, 4, 18, -5.
    let sample = Sample::new([-2.0, 7.0, 7.0, 4.0, 18.0, -5.0].map(|v| (v, false)));
    let cases =
        [(0.0, -5.0), (1.0 / 6.0, -5.0), (0.25, -2.0), (0.50, 4.0), (0.75, 7.0), (0.99, 18.0), (1.0, 18.0)];
    for (p, want) in cases {
        assert_eq!(sample.percentile(p), exactly(want), "p = {p}");
    }
}

#[test]
fn a_lost_probe_counts_as_infinite_with_a_lower_bound() {
    // Eight answers of 1 to 8 ms, and two probes given up after 100 and 5 ms.
    let answers = (1..=8).map(|v| (f64::from(v), false));
    let sample = Sample::new(answers.chain([(100.0, true), (5.0, true)]));
    assert_eq!(sample.percentile(0.5), exactly(5.0));
    assert_eq!(sample.percentile(0.8), exactly(8.0));
    // The ninth value is lost. It is at least 8, since the largest observed value precedes it.
    assert_eq!(sample.percentile(0.9), at_least(8.0));
    assert_eq!(sample.percentile(1.0), at_least(100.0));
    let summary = sample.summary().unwrap();
    assert_eq!((summary.count, summary.censored, summary.mean_of_observed), (10, 2, Some(4.5)));
    assert_eq!(Some(summary.max), exactly(8.0));
}

#[test]
fn nothing_and_all_lost() {
    assert_eq!(Sample::default().summary(), None);
    let lost = Sample::new([(3.0, true), (2.0, true), (f64::NAN, false)]).summary().unwrap();
    assert_eq!((lost.count, Some(lost.p50), Some(lost.max)), (2, at_least(2.0), at_least(3.0)));
    assert_eq!(lost.mean_of_observed, None);
}

/// The definition, literally: for every value, count those at or below it.
fn naive_percentile(values: &[(f64, bool)], p: f64) -> f64 {
    let value = |(v, censored): &(f64, bool)| if *censored { f64::INFINITY } else { *v };
    let share = |x: f64| values.iter().filter(|v| value(v) <= x).count() as f64 / values.len() as f64;
    values.iter().map(value).filter(|x| share(*x) >= p).fold(f64::INFINITY, f64::min)
}

#[test]
fn percentile_equals_the_naive_definition() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.below(40);
        // Few distinct values, so that there are ties.
        let values: Vec<(f64, bool)> = (0..count).map(|_| (rng.below(12) as f64, rng.chance(0.2))).collect();
        let sample = Sample::new(values.iter().copied());
        for p in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0] {
            let (got, want) = (sample.percentile(p).unwrap(), naive_percentile(&values, p));
            assert_eq!(got.at_least, want.is_infinite(), "seed {seed} p {p} {values:?}");
            assert!(got.at_least || got.value == want, "seed {seed} p {p}: {got:?} is not {want}");
        }
    }
}

#[test]
fn a_bound_is_never_above_the_truth() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let truth: Vec<f64> = (0..1 + rng.below(30)).map(|_| rng.next_f64()).collect();
        // A lost probe is given up before its true delay has passed.
        let seen: Vec<(f64, bool)> = truth
            .iter()
            .map(|v| if rng.chance(0.3) { (v * rng.next_f64(), true) } else { (*v, false) })
            .collect();
        let (truth, seen) = (Sample::new(truth.into_iter().map(|v| (v, false))), Sample::new(seen));
        for p in [0.1, 0.5, 0.9, 1.0] {
            let bound = seen.all[rank(p, seen.len() as u64).unwrap() as usize];
            assert!(bound <= truth.percentile(p).unwrap().value, "seed {seed} p {p}");
        }
    }
}

#[test]
fn the_trimmed_mean_drops_the_slowest_twentieth() {
    let values = (1..=20).map(f64::from);
    assert_eq!(trimmed_mean(values.clone(), 0.95), Some(10.0), "1 to 19");
    assert_eq!(trimmed_mean(values, 1.0), Some(10.5));
    assert_eq!(trimmed_mean([7.0], 0.95), Some(7.0), "at least one value is kept");
    assert_eq!(trimmed_mean([], 0.95), None);
}

#[test]
fn jain_index_of_its_authors() {
    assert_eq!(jain_index([5.0; 4]), Some(1.0));
    assert_eq!(jain_index([1.0, 0.0, 0.0, 0.0]), Some(0.25));
    // From the paper: 20 of 100 users share everything equally.
    assert_eq!(jain_index((0..100).map(|i| if i < 20 { 1.0 } else { 0.0 })), Some(0.2));
    assert_eq!(jain_index([0.0, 0.0]), None);
}
