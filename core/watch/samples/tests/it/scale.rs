//! The buckets, compared with a naive oracle and with Prometheus' bucket bounds.
use fathom_units::{Duration, Rng};
use fathom_watch_samples::scale::{HIGHEST, LOWEST, bucket_of, upper_bound, value_of};
use fathom_watch_samples::{Code, Outcome};

/// The largest error of a bucket's representative value: (G-1)/(G+1) with G = 2^(1/32).
const LARGEST_ERROR: f64 = 0.010_83;

/// Searches all bounds from the lowest.
fn naive(value: f64) -> i32 {
    (LOWEST..HIGHEST).find(|bucket| value <= upper_bound(*bucket)).unwrap_or(HIGHEST)
}

#[test]
fn the_bounds_are_those_of_prometheus() {
    // Twice the values of client_golang's table for schema 5, and the results of its `getLe` in
    // other octaves.
    let cases = [
        (0, 1.0),
        (1, 2.0 * 0.510_948_574_327_058_3),
        (3, 2.0 * 0.533_570_200_338_411_7),
        (16, 2.0 * 0.707_106_781_186_547_5),
        (31, 2.0 * 0.978_572_062_087_699_9),
        (32, 2.0),
        (-1, 0.978_572_062_087_699_9),
        (-32, 0.5),
        (-160, 0.031_25),
        (-191, 0.015_625 * 2.0 * 0.510_948_574_327_058_3),
        (320, 1024.0),
    ];
    for (bucket, bound) in cases {
        assert_eq!(upper_bound(bucket), bound, "bucket {bucket}");
        assert_eq!(bucket_of(bound), bucket, "the bound belongs to its bucket");
        assert_eq!(bucket_of(bound.next_up()), bucket + 1, "what is above does not");
    }
    for bucket in LOWEST..=HIGHEST {
        let exact = libm::exp2(f64::from(bucket) / 32.0);
        assert!((upper_bound(bucket) / exact - 1.0).abs() < 1e-15, "bucket {bucket}");
        assert_eq!(bucket_of(upper_bound(bucket)), bucket);
    }
}

#[test]
fn a_value_is_in_the_bucket_that_a_search_finds_and_near_its_value() {
    let mut rng = Rng::new(5);
    for _ in 0..20_000 {
        let exponent = rng.next_f64() * 94.0 - 31.0;
        let value = libm::exp2(exponent);
        let bucket = bucket_of(value);
        assert_eq!(bucket, naive(value), "{value}");
        assert!(
            (value_of(bucket) / value - 1.0).abs() < LARGEST_ERROR,
            "{value} became {}",
            value_of(bucket)
        );
        assert_eq!(bucket_of(value_of(bucket)), bucket, "the value of a bucket is in it");
    }
}

#[test]
fn values_outside_the_buckets_are_clamped() {
    for value in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, 1e-30] {
        assert_eq!(bucket_of(value), LOWEST, "{value}");
    }
    for value in [f64::INFINITY, f64::MAX, 1e30] {
        assert_eq!(bucket_of(value), HIGHEST, "{value}");
    }
}

#[test]
fn outcomes_decode_to_themselves() {
    for outcome in [Outcome::Lost, Outcome::Failed] {
        assert_eq!(Code::of(outcome).outcome(), outcome);
        assert_eq!((Code::of(outcome).value(), Code::of(outcome).is_late()), (None, false));
    }
    let zero = [Outcome::Answered(Duration::ZERO), Outcome::Late(Duration::ZERO)];
    assert_eq!(zero.map(|o| Code::of(o).outcome()), zero);
    let mut rng = Rng::new(6);
    for _ in 0..10_000 {
        let ns = rng.next_u64() >> rng.below(64);
        let rtt = Duration::from_nanos(ns.max(1));
        let (answered, late) = (Code::of(Outcome::Answered(rtt)), Code::of(Outcome::Late(rtt)));
        assert!(!answered.is_late() && late.is_late());
        assert_eq!(answered.bucket(), late.bucket());
        let Outcome::Answered(kept) = answered.outcome() else { panic!("{rtt} is {:?}", answered.outcome()) };
        // Delays are whole nanoseconds, which adds an error of up to half a nanosecond.
        let off = kept.as_nanos().abs_diff(rtt.as_nanos()) as f64;
        assert!(off < LARGEST_ERROR * rtt.as_nanos() as f64 + 0.51, "{rtt} became {kept}");
        assert!(matches!(late.outcome(), Outcome::Late(l) if l == kept));
    }
    assert_eq!(Code::level(-1.0), Code::FAILED);
    assert_eq!(Code::level(f64::NAN), Code::FAILED);
    assert_eq!(Code::level(0.0).value(), Some(0.0));
    assert_eq!((0..=u16::MAX).filter_map(Code::from_number).count(), 2 * 3072 + 4);
}
