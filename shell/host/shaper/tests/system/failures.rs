//! Failures at each point of a fix: everything is restored within five seconds.
use crate::world::{BEFORE, World, request, watchdog_command};
use fathom_shaper::{ApplyError, Cause, Pace, ShaperKind, Transaction};
use fathom_tc::Refusal;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(5);

/// Number of requests in a fix.
fn requests(kind: ShaperKind, before: &[&str]) -> usize {
    let world = World::new(before);
    let transaction = world.inside(|| Transaction::begin(&request(Some(kind)), &world.place())).unwrap();
    transaction.plan().steps.iter().map(|step| step.requests.len()).sum()
}

/// The points to test: the first, the last, and some between; all of them if `FATHOM_EVERY_REQUEST`
/// is set, which takes minutes.
fn points(kind: ShaperKind, before: &[&str]) -> Vec<usize> {
    let all = requests(kind, before);
    let every = std::env::var_os("FATHOM_EVERY_REQUEST").is_some();
    (0..=all).filter(|at| every || all < 30 || at % 97 == 0 || *at < 6 || at + 4 > all).collect()
}

#[test]
fn killed_at_any_point_it_is_put_back() {
    for (kind, before) in
        [(ShaperKind::Tbf, BEFORE[0]), (ShaperKind::Tbf, BEFORE[5]), (ShaperKind::FlowHash, BEFORE[7])]
    {
        let mut slowest = Duration::ZERO;
        let points = points(kind, before.1);
        for at in &points {
            let world = World::new(before.1);
            let shown = world.shown();
            assert!(world.killed_at(kind, *at, false), "{kind} was not killed at {at}");
            slowest = slowest.max(world.settled());
            assert_eq!(world.shown(), shown, "{kind} over {}, killed at {at}", before.0);
        }
        println!("{kind} over {}: killed at {} points, restored within {slowest:?}", before.0, points.len());
        assert!(slowest < SOON, "{slowest:?}");
    }
}

#[test]
fn with_its_watchdog_killed_too_the_next_one_puts_it_back() {
    for at in 0..=requests(ShaperKind::Tbf, BEFORE[5].1) {
        let world = World::new(BEFORE[5].1);
        let shown = world.shown();
        assert!(world.killed_at(ShaperKind::Tbf, at, true));
        assert!(world.place().read().unwrap().is_some(), "nobody is there to put it back");
        if at % 2 == 0 {
            world.inside(|| fathom_shaper::undo(&world.place())).unwrap();
        } else {
            let next =
                world.inside(|| Transaction::begin(&request(Some(ShaperKind::Tbf)), &world.place())).unwrap();
            assert!(
                next.recovered().unwrap().contains("rolled back an interrupted"),
                "{:?}",
                next.recovered()
            );
        }
        assert_eq!(world.shown(), shown, "killed at {at}");
    }
}

#[test]
fn refused_at_any_point_it_is_put_back() {
    let refusals = [(1, None), (2, Some("Specified qdisc kind is unknown."))];
    for (errno, words) in refusals {
        for at in points(ShaperKind::FlowHash, BEFORE[5].1) {
            let world = World::new(BEFORE[5].1);
            let shown = world.shown();
            let mut transaction = world
                .inside(|| Transaction::begin(&request(Some(ShaperKind::FlowHash)), &world.place()))
                .unwrap();
            let refusal = Refusal { errno, words: words.map(str::to_owned) };
            let mut ask = |count, _: &_| {
                if count < at {
                    return Ok(());
                }
                Err(ApplyError { doing: "a request".into(), cause: Cause::Refused(refusal.clone()) })
            };
            let watchdog = watchdog_command(&world.place());
            let begun = Instant::now();
            let error =
                world.inside(|| transaction.apply_by(watchdog, LIMIT, Pace::Requests, &mut ask)).unwrap_err();
            assert!(begun.elapsed() < SOON);
            assert_eq!(error.is_permission(), errno == 1, "{error}");
            assert_eq!(world.shown(), shown, "refused at {at}");
            assert!(world.place().read().unwrap().is_none());
        }
    }
}

#[test]
fn an_interface_that_vanishes_leaves_nothing_behind() {
    for at in points(ShaperKind::FlowHash, &[]) {
        let world = World::new(&[]);
        let mut transaction = world
            .inside(|| Transaction::begin(&request(Some(ShaperKind::FlowHash)), &world.place()))
            .unwrap();
        let mut ask = |count, _: &_| {
            if count == at {
                world.shell("ip link del eth0");
            }
            Ok(())
        };
        let watchdog = watchdog_command(&world.place());
        let result = world.inside(|| transaction.apply_by(watchdog, LIMIT, Pace::Requests, &mut ask));
        if let Err(error) = result {
            assert!(
                error.to_string().contains("interface eth0 does not exist")
                    || error.to_string().contains("ENODEV"),
                "{error}"
            );
        } else {
            world.inside(|| transaction.roll_back("gone")).unwrap();
        }
        let left = world.shell("ip -o link | cut -d' ' -f2");
        assert_eq!(left.trim(), "lo:", "vanished at {at}");
        assert!(world.place().read().unwrap().is_none());
    }
}

#[test]
fn a_link_that_goes_down_and_up_is_put_back() {
    for before in [BEFORE[0], BEFORE[5]] {
        for at in points(ShaperKind::FlowHash, before.1) {
            let world = World::new(before.1);
            let shown = world.shown();
            let mut transaction = world
                .inside(|| Transaction::begin(&request(Some(ShaperKind::FlowHash)), &world.place()))
                .unwrap();
            let mut ask = |count, _: &_| {
                if count == at {
                    world.shell(
                        "ip link set eth0 down; ip link set p0 down; ip link set p0 up; ip link set eth0 up",
                    );
                }
                Ok(())
            };
            let watchdog = watchdog_command(&world.place());
            world.inside(|| transaction.apply_by(watchdog, LIMIT, Pace::Requests, &mut ask)).unwrap();
            world.inside(|| transaction.roll_back("test")).unwrap();
            assert_eq!(world.shown(), shown, "over {}, down at {at}", before.0);
        }
    }
}

#[test]
fn put_back_while_the_link_is_down_it_is_the_same_when_it_is_up() {
    let world = World::new(&[]);
    let shown = world.shown();
    let mut transaction = world.inside(|| Transaction::begin(&request(None), &world.place())).unwrap();
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.shell("ip link set eth0 down");
    world.inside(|| transaction.roll_back("test")).unwrap();
    world.shell("ip link set eth0 up");
    assert_eq!(world.shown(), shown);
}

#[test]
fn a_second_one_at_once_is_refused() {
    let world = World::new(&[]);
    let mut first =
        world.inside(|| Transaction::begin(&request(Some(ShaperKind::Tbf)), &world.place())).unwrap();
    let second = || {
        world
            .inside(|| Transaction::begin(&request(Some(ShaperKind::Tbf)), &world.place()))
            .unwrap_err()
            .to_string()
    };
    assert!(second().contains("another fix is running"), "{}", second());
    world.inside(|| first.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    let me = format!("another fix (process {}) is running", std::process::id());
    assert!(second().contains(&me), "{}", second());
    world.inside(|| first.roll_back("test")).unwrap();
    world.inside(|| Transaction::begin(&request(Some(ShaperKind::Tbf)), &world.place())).unwrap();
}
