//! The highest rate over a second.
use fathom_probe::HighestRate;
use fathom_units::{Duration, Rate, Time};

#[test]
fn the_best_second_counts() {
    let mut highest = HighestRate::default();
    let mut total = 0;
    for n in 0..60_u64 {
        highest.add(Time::from_nanos(n * 100_000_000), total);
        // 8 Mbit/s, with 20 Mbit/s in the fourth second, and a burst of 100 ms.
        total += match n {
            30..40 => 250_000,
            50 => 300_000,
            _ => 100_000,
        };
    }
    assert_eq!(highest.rate(Duration::ZERO), Some(Rate::from_bits_per_second(20_000_000)));
}

#[test]
fn the_rate_of_slow_start_is_not_that_of_the_line() {
    // 20 Mbit/s behind a round trip of 600 ms, in steps of 100 ms.
    let round_trip = Duration::from_millis(600);
    let (mut highest, mut total, mut seen) = (HighestRate::default(), 0, Vec::new());
    for n in 0..90_u64 {
        highest.add(Time::from_nanos(n * 100_000_000), total);
        seen.extend(highest.rate(round_trip));
        // Less than the line carries arrives within two thirds of a round trip.
        let window = 14_480_u64 << (n / 6);
        total += match window / 4 {
            part @ ..250_000 => part * u64::from(n % 6 < 4),
            _ => 250_000,
        };
    }
    assert!(seen.iter().all(|rate| rate.as_bits_per_second() > 16_000_000), "{seen:?}");
    assert!(seen.len() > 20);
    // With a short round trip, a slow line is known after a second.
    let mut slow = HighestRate::default();
    for n in 0..=10_u64 {
        assert_eq!(slow.rate(Duration::ZERO), None);
        slow.add(Time::from_nanos(n * 100_000_000), n * 800);
    }
    assert_eq!(slow.rate(Duration::ZERO), Some(Rate::from_bits_per_second(64_000)));
}
