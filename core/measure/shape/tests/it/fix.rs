//! Complete fixes of simulated lines, from the first measurement on.
pub(crate) mod world;

use fathom_run::{Criterion, PhaseKind, ShaperBypass, ShaperCheck};
use fathom_shape::fix::{Action, Event, Failure, FixConfig, Isolation, LoadSummary, Outcome};
use fathom_units::{Direction, Duration, PerDirection, Rng};
use world::{Fault, Side, World, config, mbit, session, usual};

/// Increase of the median latency in ms.
fn increase_ms(summaries: &[LoadSummary], kind: PhaseKind) -> f64 {
    let summary = summaries.iter().find(|summary| summary.kind == kind).unwrap();
    summary.increase_s.unwrap().value * 1e3
}

/// Knees relative to the line's rates.
fn knee_shares(world: &World, rates_mbit: PerDirection<f64>) -> Vec<(Direction, f64)> {
    let knees = world.report().knees.into_iter().filter_map(|(direction, knee)| Some((direction, knee?)));
    let shares = knees.map(|(direction, knee)| {
        (direction, knee.rate.as_bits_per_second() as f64 / 1e6 / rates_mbit[direction])
    });
    shares.collect()
}

#[test]
fn a_bloated_modem_is_measured_searched_shaped_and_verified() {
    let mut world = World::new(session(&usual(), "", 1), config());
    let outcome = world.run();
    assert_eq!(outcome, Ok(Outcome::Verified), "{}", world.story());
    let overhead = world.report().overhead.unwrap().bytes;
    assert!((37..=45).contains(&overhead), "{overhead} bytes; the line has 38, and 3 are added");
    for (direction, share) in knee_shares(&world, PerDirection { up: 10.0, down: 40.0 }) {
        assert!((0.97..1.005).contains(&share), "{direction}: {share} of the true rate\n{}", world.story());
        let time = world.report().search_time[direction];
        assert!(time.as_secs_f64() < 60.0, "{direction}: {time}");
    }
    let (before, after) = (&world.summaries[0], world.summaries.last().unwrap());
    for (kind, bound_ms) in [(PhaseKind::Up, 8.0), (PhaseKind::Down, 8.0), (PhaseKind::Both, 14.0)] {
        assert!(increase_ms(after, kind) < bound_ms, "{kind:?}: {} ms", increase_ms(after, kind));
    }
    assert!(increase_ms(before, PhaseKind::Up) > 100.0 && increase_ms(before, PhaseKind::Down) > 60.0);
    assert!(world.is_shaped);
}

fn failures(world: &World) -> impl Iterator<Item = &ShaperCheck> {
    world.report().checks.iter().filter(|check| !check.passed)
}

fn tests_made(world: &World) -> usize {
    world.actions.iter().filter(|action| matches!(action, Action::Measure(_))).count()
}

fn trials_started(world: &World) -> usize {
    world.events.iter().filter(|event| matches!(event, Event::TrialStarted { .. })).count()
}

fn reused_trials(world: &World, wanted: Direction) -> Option<usize> {
    world.events.iter().find_map(|event| match event {
        Event::SearchStarted { direction, reused_trials } if *direction == wanted => Some(*reused_trials),
        _ => None,
    })
}

/// A slow line in both directions, for tests that take little CPU time.
fn slow() -> PerDirection<Side> {
    PerDirection { up: Side::modem(1.0, 300.0), down: Side::modem(2.0, 300.0) }
}

const ONLY_UP: PerDirection<bool> = PerDirection { up: true, down: false };
const ONLY_DOWN: PerDirection<bool> = PerDirection { up: false, down: true };

#[test]
fn a_line_without_a_queue_is_left_alone() {
    let fine = |side: &Side| Side(side.0.replace("256000b", "10000b").replace("1000000b", "10000b"));
    let mut world = World::new(session(&usual().map(|side| fine(&side)), "", 1), config());
    // Ten kilobytes are 8 ms at 10 Mbit/s, the delay of two packets and a shaper.
    assert_eq!(world.run(), Ok(Outcome::NotNeeded), "{:#?}", world.summaries);
    assert_eq!((tests_made(&world), world.is_shaped), (1, false));
}

#[test]
fn an_interface_that_cannot_be_shaped_is_refused_before_anything_is_measured() {
    let mut world = World::new(session(&usual(), "", 1), config());
    world.fault = Fault::Shaper(0);
    assert_eq!(world.run(), Err(Failure::Shaper));
    assert_eq!((tests_made(&world), &world.events[..]), (0, &[][..]));
}

#[test]
fn rates_above_the_true_ones_fail_the_checks_and_are_rolled_back() {
    let rates = PerDirection { up: Some(mbit(12.0)), down: Some(mbit(50.0)) };
    let mut world =
        World::new(session(&usual(), "", 1), FixConfig { rates, isolation: Isolation::Shared, ..config() });
    assert_eq!(world.run(), Ok(Outcome::NotVerified), "{}", world.story());
    let is_latency = |check: &ShaperCheck| matches!(check.criterion, Criterion::Latency { .. });
    for load in [PhaseKind::Up, PhaseKind::Down] {
        let mut failed = failures(&world).filter(|check| check.phase == load);
        assert!(failed.any(is_latency), "{load:?}: {:#?}", world.report().checks);
    }
    // Given rates are tried once.
    assert_eq!((world.is_shaped, trials_started(&world), tests_made(&world)), (false, 0, 4));
}

#[test]
fn packets_bypassing_the_shaper_fail_the_fix() {
    let rates = PerDirection { up: None, down: Some(mbit(37.0)) };
    let mut world =
        World::new(session(&usual(), "", 1), FixConfig { rates, directions: ONLY_DOWN, ..config() });
    world.is_bypassed = true;
    assert_eq!(world.run(), Ok(Outcome::NotVerified), "{}", world.story());
    let found = failures(&world).find_map(|check| match (&check.criterion, check.phase) {
        (Criterion::Bypass { bypasses, .. }, PhaseKind::Down) => Some(bypasses),
        _ => None,
    });
    let Some([ShaperBypass::Unshaped { direction: Direction::Down, interface_bytes, shaped_bytes }]) =
        found.map(Vec::as_slice)
    else {
        panic!("{:#?}", world.report().checks)
    };
    // Ten seconds at 40 Mbit/s would be 50 MB.
    assert!(*interface_bytes > 20_000_000 && *shaped_bytes == 0, "{found:?}");
    assert!(!world.is_shaped);
}

#[test]
fn a_dry_run_ends_with_the_plan_and_its_trials_are_reused() {
    let dry = FixConfig { directions: ONLY_UP, dry_run: true, ..config() };
    let mut world = World::new(session(&usual(), "", 1), dry.clone());
    assert_eq!(world.run(), Ok(Outcome::Planned), "{}", world.story());
    let planned = world.report().clone();
    let Some(Event::AttemptPrepared(rates)) = world.events.last() else { panic!("{}", world.story()) };
    assert!(rates.up.unwrap() < planned.knees.up.unwrap().rate && rates.down.is_none(), "{rates:?}");
    assert!(!world.is_shaped);
    world.again(FixConfig { dry_run: false, ..dry });
    assert_eq!(world.run(), Ok(Outcome::Verified), "{}", world.story());
    assert_eq!(reused_trials(&world, Direction::Up), Some(planned.trials.up.len()));
    assert_eq!((trials_started(&world), world.report().knees), (0, planned.knees));
    assert_eq!(world.stored, PerDirection::default());
}

#[test]
fn a_stopped_search_is_undone_and_can_be_continued() {
    let shared = FixConfig { directions: ONLY_UP, isolation: Isolation::Shared, ..config() };
    let mut world = World::new(session(&usual(), "", 1), shared.clone());
    // During the second trial, which then does not count.
    world.fault = Fault::StopInTrial(1);
    assert_eq!(world.run(), Err(Failure::Stopped), "{}", world.story());
    assert_eq!((world.is_shaped, trials_started(&world)), (false, 2));
    world.again(shared);
    assert_eq!(world.run(), Ok(Outcome::Verified), "{}", world.story());
    assert_eq!(reused_trials(&world, Direction::Up), Some(1));
    let increase = increase_ms(world.summaries.last().unwrap(), PhaseKind::Up);
    assert!(increase <= 23.0, "{increase} ms");
}

#[test]
fn knees_of_many_lines_are_within_the_bounds() {
    let mut rng = Rng::new(7);
    for seed in 0..8 {
        let mut draw = |least: f64, most: f64| least + (most - least) * rng.next_f64();
        let rates = PerDirection { up: draw(3.0, 12.0), down: draw(10.0, 30.0) };
        let path_ms = draw(20.0, 40.0);
        let sides = rates.map(|rate| Side::modem(rate, draw(100.0, 400.0)).with_delay(path_ms));
        let mut world = World::new(session(&sides, "", seed), config());
        let outcome = world.run();
        let shares = knee_shares(&world, rates);
        let overhead = world.report().overhead;
        eprintln!("seed {seed}: {rates:.2?} Mbit/s, {path_ms:.0} ms, knees at {shares:.4?}, {overhead:?}");
        assert_eq!(outcome, Ok(Outcome::Verified), "seed {seed}: {}", world.story());
        // On a long path, a load may not fill a shaper that is less than 3 % above the line's rate.
        for (direction, share) in shares {
            assert!((0.97..1.03).contains(&share), "seed {seed}, {direction}: {share}\n{}", world.story());
        }
    }
}

#[test]
fn only_the_direction_with_a_queue_is_shaped() {
    let sides = PerDirection { up: Side::modem(2.0, 400.0), down: Side::modem(20.0, 4.0) };
    let mut world = World::new(session(&sides, "", 1), config());
    assert_eq!(world.run(), Ok(Outcome::Verified), "{}", world.story());
    let knees = world.report().knees;
    assert!(knees.up.is_some() && knees.down.is_none(), "{knees:?}");
}

#[test]
fn a_line_that_became_slower_than_the_baseline_is_searched_downwards() {
    // Baseline and overhead take half a minute.
    let trace = "0s 8mbit\n32s 6500kbit\n";
    let sides = PerDirection { up: traced(300_000), down: Side::modem(8.0, 300.0) };
    let mut world = World::new(session(&sides, trace, 1), FixConfig { directions: ONLY_UP, ..config() });
    assert_eq!(world.run(), Ok(Outcome::Verified), "{}", world.story());
    let first = world.report().trials.up[0].offered;
    let share = knee_shares(&world, PerDirection { up: 6.5, down: 8.0 })[0].1;
    assert!(first > mbit(7.0) && (0.97..1.005).contains(&share), "{share}\n{}", world.story());
}

#[test]
fn trials_of_a_faster_line_fail_verification_and_are_undone() {
    let fast = PerDirection { up: Side::modem(4.0, 300.0), down: Side::modem(4.0, 300.0) };
    let config = FixConfig { directions: ONLY_UP, ..config() };
    let mut before = World::new(session(&fast, "", 1), FixConfig { dry_run: true, ..config.clone() });
    assert_eq!(before.run(), Ok(Outcome::Planned));
    let slow = fast.map(|side| Side(side.0.replace("4000000bit", "3000000bit")));
    let mut world = World::new(session(&slow, "", 1), config);
    world.stored = before.stored;
    assert_eq!(world.run(), Ok(Outcome::NotVerified), "{}", world.story());
    assert!(!world.is_shaped);
    // The next fix does not use them.
    assert_eq!(world.stored, PerDirection::default());
}

/// A direction with the rate of the trace.
fn traced(limit: u64) -> Side {
    Side(format!(
        "trace = \"line.trace\", queue = \"fifo limit {limit}b\", overhead = \"38b\", delay = \"5ms\""
    ))
}

#[test]
fn a_link_that_stalls_for_a_moment_is_still_found() {
    for stall_at in [31, 40, 50, 60] {
        let trace = format!("0s 4mbit\n{stall_at}s 10kbit\n{stall_at}300ms 4mbit\n");
        let sides = PerDirection { up: traced(150_000), down: Side::modem(8.0, 300.0) };
        let mut world =
            World::new(session(&sides, &trace, stall_at), FixConfig { directions: ONLY_UP, ..config() });
        let outcome = world.run();
        let share = knee_shares(&world, PerDirection { up: 4.0, down: 8.0 })[0].1;
        eprintln!(
            "stall at {stall_at}: {outcome:?} knee {share} of {} trials",
            world.report().trials.up.len()
        );
        assert_eq!(outcome, Ok(Outcome::Verified), "stall at {stall_at} s: {}", world.story());
        assert!((0.97..1.005).contains(&share), "stall at {stall_at} s: {share}\n{}", world.story());
    }
}

#[test]
fn a_rate_that_varies_is_shaped_below_its_mean() {
    // Alternates between 10 % above and below the mean every 1.5 s, for the duration of a fix.
    let rate = |n: u32| if n.is_multiple_of(2) { 5500 } else { 4500 };
    let trace: String = (0..300).map(|n| format!("{}ms {}kbit\n", 1500 * n, rate(n))).collect();
    let sides = PerDirection { up: traced(200_000), down: Side::modem(10.0, 300.0).with_delay(20.0) };
    for seed in 0..4 {
        let mut world =
            World::new(session(&sides, &trace, seed), FixConfig { directions: ONLY_UP, ..config() });
        let outcome = world.run();
        let rates = world.events.iter().rev().find_map(|event| match event {
            Event::AttemptPrepared(rates) => rates.up,
            _ => None,
        });
        eprintln!("seed {seed}: {outcome:?} at {rates:?}, knee {:?}", world.report().knees.up);
        assert_eq!(outcome, Ok(Outcome::Verified), "seed {seed}: {}", world.story());
        assert!(rates < Some(mbit(5.0)), "seed {seed}: {}", world.story());
    }
}

#[test]
fn flows_sharing_a_shaper_queue_cost_attempts_but_not_the_fix() {
    let (mut attempts, mut verified) = (0, 0);
    for seed in 0..12 {
        let sides = PerDirection { up: Side::modem(4.0, 300.0), down: Side::modem(8.0, 300.0) };
        let mut world = World::new(session(&sides, "", seed), FixConfig { directions: ONLY_UP, ..config() });
        // Each flow shares the queue of the probe with probability one in eight, so of four flows
        // one does in 41 % of the attempts.
        world.queue = |_| "drr flows 8 limit 40p".to_owned();
        let outcome = world.run();
        verified += u32::from(outcome == Ok(Outcome::Verified));
        assert!(
            matches!(outcome, Ok(Outcome::Verified | Outcome::NotVerified)),
            "seed {seed}: {}",
            world.story()
        );
        attempts += world.events.iter().filter(|event| matches!(event, Event::Verified(_))).count();
    }
    assert!(verified >= 9, "{verified} of 12 verified");
    assert!(attempts > 12, "no collision in {attempts} attempts");
}

/// The actions of a complete fix of the slow line.
fn actions() -> Vec<Action> {
    let mut world = World::new(session(&slow(), "", 1), config());
    assert_eq!(world.run(), Ok(Outcome::Verified), "{}", world.story());
    world.actions
}

/// All actions except for most readings of counters.
fn some(actions: &[Action]) -> impl Iterator<Item = (usize, &Action)> {
    let is_read = |action: &Action| *action == Action::ReadCounters;
    actions.iter().enumerate().filter(move |(number, action)| !is_read(action) || number % 200 == 0)
}

#[test]
fn every_failure_restores_the_interface() {
    let whole = actions();
    for (number, action) in some(&whole).filter(|(_, action)| world::is_on_shaper(action)) {
        let mut world = World::new(session(&slow(), "", 1), config());
        world.fault = Fault::Shaper(number);
        assert_eq!(world.run(), Err(Failure::Shaper), "action {number}: {action:?}");
        // An interface that was not restored is reported, and its state is kept.
        let is_left = matches!(action, Action::RollBack(_));
        assert_eq!(world.is_shaped, is_left, "action {number}: {action:?}");
    }
}

#[test]
fn a_failed_or_interrupted_test_is_undone() {
    let tests = actions().iter().filter(|action| matches!(action, Action::Measure(_))).count();
    for number in 0..tests {
        for (fault, failure) in [
            (Fault::Measurement(number), Failure::Measurement),
            (Fault::Incomplete(number, Duration::from_millis(2_500)), Failure::Incomplete),
        ] {
            let mut world = World::new(session(&slow(), "", 1), config());
            world.fault = fault;
            assert_eq!(world.run(), Err(failure), "{fault:?}: {}", world.story());
            assert!(!world.is_shaped, "{fault:?}");
        }
    }
}

#[test]
fn a_stop_at_any_time_ends_the_fix_and_restores_the_interface() {
    let whole = actions();
    for (number, action) in some(&whole) {
        let mut world = World::new(session(&slow(), "", 1), config());
        world.fault = Fault::Stop(number);
        let result = world.run();
        // A committed shaper stays.
        let is_committed = *action == Action::Commit;
        let wanted = if is_committed { Ok(Outcome::Verified) } else { Err(Failure::Stopped) };
        assert_eq!((result, world.is_shaped), (wanted, is_committed), "action {number}: {action:?}");
        let later = world.actions.len() - number;
        assert!(
            is_committed || later <= 4,
            "action {number}: {action:?}, then {:?}",
            &world.actions[number..]
        );
    }
}
