//! Schedules of tests in virtual time.
use fathom_units::{Bytes, Duration, PerDirection, Rng, WallTime};
use fathom_watch_schedule::{Busy, Due, Ledger, LeftOut, Lows, Schedule, busy};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3_600 * SECOND;
/// 2026-12-01T00:00:00Z.
const DECEMBER: u64 = 1_796_083_200 * SECOND;

fn schedule(hours: u64, budget: u64) -> Schedule {
    let interval = Duration::from_secs(hours * 3_600);
    Schedule { name: "line".into(), seed: 7, interval, budget: Bytes(budget), while_busy: false }
}

/// Makes tests of `payload` bytes for `hours` hours, minute by minute. Returns the moments of the
/// tests and what was left out.
fn run(
    schedule: &Schedule,
    hours: u64,
    payload: u64,
    is_busy: impl Fn(u64) -> bool,
) -> (Vec<u64>, Vec<LeftOut>) {
    let (mut ledger, mut made, mut left_out) = (Ledger::default(), Vec::new(), Vec::new());
    for minute in 0..hours * 60 {
        let now = WallTime(DECEMBER + minute * 60 * SECOND);
        match schedule.due(&mut ledger, now, is_busy(minute)) {
            Due::Wait => {}
            Due::Test(most) => {
                assert!(most.get() >= payload, "minute {minute}: {most} of {payload} bytes");
                schedule.made(&mut ledger, now, Bytes(payload));
                made.push(minute);
            }
            Due::LeaveOut(why) => left_out.push(why),
        }
    }
    (made, left_out)
}

#[test]
fn each_interval_has_one_test_at_a_random_moment() {
    let (made, left_out) = run(&schedule(6, 1 << 50), 24 * 28, 1_000_000, |_| false);
    assert_eq!(left_out, []);
    assert_eq!(made[0], 0, "the first test is made at once");
    let made = &made[1..];
    let intervals: Vec<u64> = made.iter().map(|minute| minute / 360).collect();
    // A moment in the last seconds of an interval is noticed a minute later.
    let late = intervals.windows(2).filter(|pair| pair[1] == pair[0]).count();
    assert!(late <= 1, "{intervals:?}");
    assert!((110..=112).contains(&made.len()), "{} tests in 112 intervals", made.len());
    // Each sixth of the interval has its share: 112 / 6 = 18.7, 4 standard deviations are 15.8.
    for sixth in 0..6 {
        let count = made.iter().filter(|minute| *minute % 360 / 60 == sixth).count();
        assert!((3..=35).contains(&count), "{count} tests in part {sixth}");
    }
    // Another host, and another test of this host, have other moments.
    let own = schedule(6, 1);
    let others = [Schedule { seed: 8, ..own.clone() }, Schedule { name: "other".into(), ..own.clone() }];
    for other in others {
        assert!((0..10).filter(|n| other.moment(*n) == own.moment(*n)).count() == 0);
    }
}

#[test]
fn the_budget_holds_and_is_spread_over_the_month() {
    // 124 intervals in December; 2 GB for 25 MB each pay for 80 of them.
    let (made, left_out) = run(&schedule(6, 2_000_000_000), 24 * 31, 25_000_000, |_| false);
    assert!((76..=80).contains(&made.len()), "{} tests", made.len());
    assert!(left_out.iter().all(|why| *why == LeftOut::Budget));
    let in_first_half = made.iter().filter(|minute| **minute < 31 * 12 * 60).count();
    assert!((36..=44).contains(&in_first_half), "{in_first_half} in the first half");
    // A new month begins with a new budget.
    let (two_months, _) = run(&schedule(6, 2_000_000_000), 24 * 62, 25_000_000, |_| false);
    let in_january = two_months.iter().filter(|minute| **minute >= 31 * 24 * 60).count();
    assert!((76..=80).contains(&in_january), "{in_january} in January");
}

#[test]
fn a_budget_below_one_test_allows_none_after_the_first() {
    let schedule = schedule(1, 30_000_000);
    let mut ledger = Ledger { last: Bytes(31_000_000), ..Ledger::default() };
    let mut tests = 0;
    for minute in 0..31 * 24 * 60 {
        let due = schedule.due(&mut ledger, WallTime(DECEMBER + minute * 60 * SECOND), false);
        tests += u32::from(matches!(due, Due::Test(_)));
    }
    assert_eq!(tests, 0);
}

#[test]
fn a_busy_line_is_tested_later_or_not_at_all() {
    let own = schedule(6, 1 << 50);
    let (free, _) = run(&own, 24 * 7, 1, |_| false);
    let second = free[1];
    let (made, left_out) = run(&own, 24, 1, |minute| (second..second + 20).contains(&minute));
    assert_eq!((made[1], left_out), (second + 20, vec![]));
    let (never, all) = run(&own, 24 * 7, 1, |_| true);
    assert!(never.is_empty());
    assert!(all.len() >= 26 && all.iter().all(|why| *why == LeftOut::Busy), "{all:?}");
    let (always, _) = run(&Schedule { while_busy: true, ..own }, 24 * 7, 1, |_| true);
    assert_eq!(always, free);
}

/// Against a clock that is off for random times, jumps, and a program that restarts: never two
/// tests for one interval, and never more than the budget in a month.
#[test]
fn restarts_sleep_and_steps_of_the_clock_repeat_no_test() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let own = schedule(1 + rng.below(12), 500_000_000 + rng.below(1_000_000_000));
        let (mut now, mut ledger) = (DECEMBER + rng.below(20 * 24) * HOUR, Ledger::default());
        let (mut used, mut month) = (0_u64, ledger.month);
        let mut intervals = Vec::new();
        for _ in 0..3_000 {
            now += 60 * SECOND;
            if rng.chance(0.01) {
                now += rng.below(30) * HOUR;
            }
            if let Due::Test(most) = own.due(&mut ledger, WallTime(now), rng.chance(0.3)) {
                let payload = rng.below(60_000_000).min(most.get());
                let before = ledger.done;
                own.made(&mut ledger, WallTime(now), Bytes(payload));
                // The first test is one more in its interval.
                assert!(ledger.done > before || intervals.is_empty(), "seed {seed}: {before:?}");
                intervals.push(if intervals.is_empty() { None } else { ledger.done });
                if month != ledger.month {
                    (month, used) = (ledger.month, 0);
                }
                used += payload;
                assert!(used <= own.budget.get(), "seed {seed}: {used} of {}", own.budget);
            }
        }
        let count = intervals.len();
        intervals.dedup();
        assert_eq!(intervals.len(), count, "seed {seed}: two tests in one interval");
    }
}

#[test]
fn a_clock_ahead_by_a_day_stops_no_tests_afterwards() {
    let own = schedule(6, 1 << 50);
    let mut ledger = Ledger::default();
    let mut made = 0;
    for minute in 0..4 * 24 * 60 {
        let wrong = if (600..700).contains(&minute) { 24 * HOUR } else { 0 };
        let now = WallTime(DECEMBER + minute * 60 * SECOND + wrong);
        if let Due::Test(_) = own.due(&mut ledger, now, false) {
            own.made(&mut ledger, now, Bytes(1));
            made += 1;
        }
    }
    assert!((14..=17).contains(&made), "{made} tests in 16 intervals");
}

#[test]
fn a_line_is_busy_by_its_rate_or_by_its_delay() {
    let rates = |up, down| PerDirection { up, down };
    let line = rates(Some(10e6), Some(100e6));
    let unknown = rates(None, None);
    let ms = Duration::from_millis;
    for (now, of_line, above, expected) in [
        (rates(Some(0.4e6), Some(4e6)), line, Some(ms(3)), None),
        (rates(Some(0.6e6), Some(4e6)), line, None, Some(Busy::Rate(0.6e6))),
        (rates(Some(0.4e6), Some(6e6)), line, None, Some(Busy::Rate(6e6))),
        (rates(Some(0.9e6), Some(0.9e6)), unknown, None, None),
        (rates(Some(1.1e6), None), unknown, None, Some(Busy::Rate(1.1e6))),
        (unknown, line, Some(ms(21)), Some(Busy::Delay(ms(21)))),
        (unknown, unknown, None, None),
    ] {
        assert_eq!(busy(now, of_line, above), expected, "{now:?} {of_line:?} {above:?}");
    }
}

#[test]
fn delays_are_compared_with_the_lowest_of_a_day() {
    let (mut lows, ms) = (Lows::default(), Duration::from_millis);
    let at = |hour: u64| WallTime(DECEMBER + hour * HOUR);
    assert_eq!(lows.above(at(0), &[]), None);
    assert_eq!(lows.above(at(0), &[(1, ms(1)), (2, ms(20))]), Some(ms(0)));
    // The target in the local network does not hide the queue.
    assert_eq!(lows.above(at(1), &[(1, ms(1)), (2, ms(60))]), Some(ms(40)));
    // One slow target of three is its own problem.
    assert_eq!(lows.above(at(2), &[(1, ms(1)), (2, ms(20)), (3, ms(10))]), Some(ms(0)));
    assert_eq!(lows.above(at(3), &[(1, ms(1)), (2, ms(20)), (3, ms(900))]), Some(ms(0)));
    // A path that became longer a day ago is the path now.
    assert_eq!(lows.above(at(4), &[(2, ms(50))]), Some(ms(30)));
    assert_eq!(lows.above(at(27), &[(2, ms(50))]), Some(ms(0)));
}
