//! Slots are evenly spread, keep their phase, and are not sent in a burst.
use fathom_probe::{Due, Pace, Schedule, tick};
use fathom_units::{Duration, Time};

const MS: fn(u64) -> Duration = Duration::from_millis;

const fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}
const fn steady(interval: Duration) -> Pace {
    Pace { interval, probes: 1, gap: Duration::from_secs(1) }
}
fn take(schedule: &mut Schedule, now: Time) -> Vec<Due> {
    let mut found = Vec::new();
    schedule.take_due(now, &mut found);
    found
}

#[test]
fn thousands_of_targets_are_spread_over_time() {
    for (seed, count) in [(1, 1_000), (2, 1_234), (3, 10_000)] {
        let mut schedule = Schedule::new(seed);
        (0..count).for_each(|n| schedule.add(n, &steady(MS(1_000)), Time::ZERO));
        let mut per_tick = Vec::new();
        for ms in (10..=3_000).step_by(10) {
            per_tick.push(take(&mut schedule, at(ms)).len());
        }
        let even = count as usize / 100;
        let most = *per_tick[100..].iter().max().unwrap();
        assert!(most <= even + even / 4 + 2, "seed {seed}: {most} of {count} in 10 ms");
        assert_eq!(
            per_tick[100..200].iter().sum::<usize>(),
            count as usize,
            "seed {seed}: once a second each"
        );
    }
}

#[test]
fn slots_do_not_drift() {
    let mut schedule = Schedule::new(9);
    schedule.add(0, &steady(MS(100)), at(50));
    let first = schedule.next_slot().unwrap();
    assert!(first > at(50) && first <= at(150));
    let mut late = 0;
    for n in 0..50 {
        // Wakes up to 90 ms late.
        late = (late * 7 + 13) % 90;
        let slot = first + MS(100) * n;
        assert_eq!(
            take(&mut schedule, slot + MS(late)),
            [Due { target: 0, slot, missed: 0 }],
            "{late} ms late"
        );
    }
    assert_eq!(schedule.missed(), 0);
}

#[test]
fn after_a_suspend_nothing_is_caught_up() {
    for seed in 0..20 {
        let mut schedule = Schedule::new(seed);
        (0..1_000).for_each(|n| schedule.add(n, &steady(MS(1_000)), Time::ZERO));
        take(&mut schedule, at(50));
        // No poll for ten seconds.
        let after = take(&mut schedule, at(10_050));
        assert!(after.len() <= 130, "seed {seed}: {} left at once", after.len());
        assert!(after.iter().all(|due| due.slot + MS(100) >= at(10_050)), "seed {seed}");
        // 1,000 per second for ten seconds, minus those of the last 100 ms.
        assert!((9_800..=10_000).contains(&schedule.missed()), "seed {seed}: {}", schedule.missed());
        let mut most = 0;
        let mut all = 0;
        for ms in (10_060..=11_050).step_by(10) {
            let now = take(&mut schedule, at(ms)).len();
            (most, all) = (most.max(now), all + now);
        }
        assert!(most <= 14 && all == 1_000, "seed {seed}: at most {most} in 10 ms, {all} in a second");
    }
}

#[test]
fn a_hundred_thousand_late_targets_are_sorted_once() {
    let mut schedule = Schedule::new(6);
    (0..100_000).for_each(|n| schedule.add(n, &steady(MS(1_000)), Time::ZERO));
    // Sorting for each slot would take minutes.
    assert!(take(&mut schedule, at(900)).len() < 13_000);
    let all: usize = (901..=1_900).map(|ms| take(&mut schedule, at(ms)).len()).sum();
    assert_eq!(all, 100_000, "each once in the second after");
}

#[test]
fn probes_of_a_round_are_spaced() {
    let mut schedule = Schedule::new(4);
    schedule.add(7, &Pace { interval: MS(5_000), probes: 3, gap: MS(20) }, Time::ZERO);
    let mut slots = Vec::new();
    for ms in 0..12_000 {
        slots.extend(take(&mut schedule, at(ms)).into_iter().map(|due| due.slot));
    }
    let starts: Vec<Time> = slots.chunks(3).filter(|c| c.len() == 3).map(|c| c[0]).collect();
    assert!(slots.len() >= 6, "{slots:?}");
    for round in slots.chunks_exact(3) {
        assert_eq!([round[1] - round[0], round[2] - round[1]], [MS(20); 2], "{slots:?}");
    }
    assert!(starts.windows(2).all(|w| w[1] - w[0] == MS(5_000)), "{starts:?}");
}

#[test]
fn hourly_targets_are_also_probed_at_the_start() {
    let mut schedule = Schedule::new(4);
    schedule.add(1, &steady(Duration::from_secs(3_600)), at(1_000));
    let first = schedule.next_slot().unwrap();
    assert!(first <= at(11_000), "{first}");
    assert_eq!(take(&mut schedule, at(11_000)).len(), 1);
    assert!(schedule.next_slot().unwrap() > at(11_000));
}

#[test]
fn adding_and_removing_targets_keeps_other_slots() {
    let mut schedule = Schedule::new(11);
    (0..100).for_each(|n| schedule.add(n, &steady(MS(1_000)), Time::ZERO));
    let mut before = schedule.clone();
    schedule.remove(|target| target % 2 == 1);
    (100..150).for_each(|n| schedule.add(n, &steady(MS(1_000)), Time::ZERO));
    let of = |one: &mut Schedule| -> Vec<Due> {
        let all = (0..=100).flat_map(|n| take(one, at(n * 10)));
        all.filter(|due| due.target < 100 && due.target % 2 == 0).collect()
    };
    assert_eq!(of(&mut before), of(&mut schedule));
    schedule.remove(|_| true);
    assert_eq!(schedule.next_slot(), None);
}

#[test]
fn ticks_are_long_for_few_and_short_for_many() {
    for (rate, want) in [(1.0, MS(16)), (1_000.0, MS(16)), (4_000.0, MS(4)), (100_000.0, MS(1))] {
        assert_eq!(tick(rate), want, "{rate}");
    }
}

#[test]
fn targets_of_a_test_are_spread_and_late_wakeups_do_not_shift_slots() {
    let mut schedule = Schedule::even(0..2, MS(50), Time::ZERO);
    let mut slots = Vec::new();
    // Wakes at these milliseconds only.
    for now in [0, 24, 25, 57, 76, 260] {
        slots.extend(take(&mut schedule, at(now)).into_iter().map(|due| (now, due)));
    }
    let due = |now, target, slot, missed| (now, Due { target, slot: at(slot), missed });
    let expected = [
        due(0, 0, 0, 0),
        due(25, 1, 25, 0),
        due(57, 0, 50, 0),
        due(76, 1, 75, 0),
        due(260, 0, 250, 3),
        due(260, 1, 225, 2),
    ];
    assert_eq!(slots, expected);
    assert_eq!((schedule.next_slot(), schedule.missed()), (Some(at(275)), 5));
}

#[test]
fn a_new_interval_counts_from_the_next_slots() {
    let mut schedule = Schedule::even(0..2, MS(50), Time::ZERO);
    take(&mut schedule, at(0));
    schedule.set_interval(MS(200), at(0));
    let slots: Vec<_> = (1..=450).flat_map(|ms| take(&mut schedule, at(ms))).map(|due| due.slot).collect();
    assert_eq!(slots, [25, 50, 225, 250, 425, 450].map(at));
    schedule.set_interval(MS(200), at(450));
    assert_eq!(schedule.next_slot(), Some(at(625)), "nothing changed");
}

/// The first estimate of a rate may be far too low, as of a load that has hardly started.
#[test]
fn a_shorter_interval_does_not_wait_for_the_next_slots() {
    let mut schedule = Schedule::even(0..2, MS(50), Time::ZERO);
    take(&mut schedule, at(0));
    schedule.set_interval(MS(8_000), at(0));
    let slots = |of: &mut Schedule, span: std::ops::RangeInclusive<u64>| -> Vec<_> {
        span.flat_map(|ms| take(of, at(ms))).map(|due| due.slot).collect()
    };
    assert_eq!(slots(&mut schedule, 1..=100), [25, 50].map(at));
    // The slots were at 8,025 and 8,050 ms.
    schedule.set_interval(MS(80), at(150));
    let moved = slots(&mut schedule, 151..=400);
    assert_eq!(moved.len(), 6, "{moved:?}");
    assert!(moved[0] > at(150) && moved[1] < at(150) + MS(80), "{moved:?}");
    assert_eq!(moved[2].saturating_since(moved[0]), MS(80));
    // What is late already stays so, and is sent once.
    schedule.set_interval(MS(10), at(1_000));
    assert_eq!(take(&mut schedule, at(1_000)).len(), 2);
}

#[test]
fn a_removed_target_is_never_due() {
    let mut schedule = Schedule::even(0..2, MS(50), Time::ZERO);
    schedule.remove(|target| target == 0);
    assert_eq!(schedule.next_slot(), Some(at(25)));
    assert_eq!(take(&mut schedule, at(24)), []);
    schedule.remove(|_| true);
    schedule.set_interval(MS(100), at(24));
    assert_eq!(schedule.next_slot(), None);
}
