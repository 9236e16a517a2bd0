//! Applying and removing shapers over existing qdiscs.
use crate::world::{BEFORE, World, mbit, request, watchdog_command};
use fathom_shaper::{Abilities, Place, Restored, ShapeRequest, ShaperKind, Transaction, Undone, undo};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Shaper types that this kernel supports.
fn kinds() -> Vec<ShaperKind> {
    let can = Abilities::probe().unwrap();
    can.kinds.iter().filter(|(_, result)| result.is_ok()).map(|(kind, _)| *kind).collect()
}

fn begin(world: &World, kind: Option<ShaperKind>) -> Transaction {
    world.inside(|| Transaction::begin(&request(kind), &world.place())).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn whatever_was_there_is_there_again() {
    let kinds = kinds();
    assert!(kinds.contains(&ShaperKind::FlowHash) && kinds.contains(&ShaperKind::Tbf), "{kinds:?}");
    for (what, setup) in BEFORE {
        for kind in &kinds {
            let world = World::new(setup);
            let before = world.shown();
            let mut transaction = begin(&world, Some(*kind));
            assert_eq!(world.shown(), before, "{what}: nothing is changed by looking");
            world
                .inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT))
                .unwrap_or_else(|e| panic!("{what}, {kind}: {e}"));
            let on = world.shown();
            assert!(on.contains("rate 8Mbit") && on.contains("rate 30Mbit"), "{what}, {kind}:\n{on}");
            let restored = world.inside(|| transaction.roll_back("test"));
            assert_eq!(restored.unwrap_or_else(|e| panic!("{what}, {kind}: {e}")), Restored::Same);
            assert_eq!(world.shown(), before, "{what}, {kind}");
            assert!(world.place().read().unwrap().is_none());
        }
    }
}

#[test]
fn what_is_committed_stays_until_it_is_undone() {
    let world = World::new(BEFORE[5].1);
    let before = world.shown();
    let mut transaction = begin(&world, None);
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.inside(|| transaction.commit()).unwrap();
    let on = world.shown();
    assert!(on.contains("ifb-eth0") && on.contains("rate 8Mbit"), "{on}");
    let again = world.inside(|| Transaction::begin(&request(None), &world.place())).unwrap_err().to_string();
    assert!(again.contains("already shaped") && again.contains("--undo eth0"), "{again}");
    assert_eq!(world.inside(|| undo(&world.place())).unwrap(), Undone::Back(Restored::Same));
    assert_eq!(world.shown(), before);
    assert_eq!(world.inside(|| undo(&world.place())).unwrap(), Undone::Nothing);
}

#[test]
fn one_direction_alone() {
    for (up, down) in [(Some(mbit(8)), None), (None, Some(mbit(30)))] {
        let world = World::new(&[]);
        let before = world.shown();
        let request = ShapeRequest { up, down, ..request(None) };
        let mut transaction = world.inside(|| Transaction::begin(&request, &world.place())).unwrap();
        world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
        let on = world.shown();
        assert_eq!((on.contains("rate 8Mbit"), on.contains("rate 30Mbit")), (up.is_some(), down.is_some()));
        assert_eq!(on.contains("ifb-eth0"), down.is_some());
        // Dropped without commit or rollback, as by a panic.
        world.inside(|| drop(transaction));
        assert_eq!(world.shown(), before);
    }
}

#[test]
fn who_takes_too_long_is_put_back_by_the_watchdog() {
    let world = World::new(&[]);
    let before = world.shown();
    let mut transaction = begin(&world, Some(ShaperKind::Tbf));
    world.inside(|| transaction.apply(watchdog_command(&world.place()), Duration::from_millis(300))).unwrap();
    world.settled();
    assert_eq!(world.shown(), before);
    let late = world.inside(|| transaction.commit()).unwrap_err().to_string();
    assert!(late.contains("the time limit was exceeded; rolled back"), "{late}");
}

#[test]
fn states_that_hold_not_here_are_told_from_those_that_do() {
    let world = World::new(&[]);
    let mut transaction = begin(&world, Some(ShaperKind::Tbf));
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.inside(|| transaction.commit()).unwrap();
    let file = world.place().file();
    let text = std::fs::read_to_string(&file).unwrap();
    // Another namespace with its own eth0.
    let other = World::new(&[]);
    let elsewhere = other.inside(|| undo(&world.place())).unwrap_err().to_string();
    assert!(elsewhere.contains("another network namespace"), "{elsewhere}");
    // Another boot.
    let mut earlier = world.place().read().unwrap().unwrap();
    "an-earlier-one".clone_into(&mut earlier.instance.boot);
    world.place().write(&earlier).unwrap();
    assert_eq!(world.inside(|| undo(&world.place())).unwrap(), Undone::EarlierBoot);
    // Truncated, another version, and any single byte changed: refused with a message, or
    // equivalent.
    for damaged in [&text[..text.len() / 2], "", "{}", &text.replace("\"version\": 1", "\"version\": 2")] {
        std::fs::write(&file, damaged).unwrap();
        let error = world.inside(|| undo(&world.place())).unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains("try:"), "{error}");
    }
    std::fs::write(&file, &text).unwrap();
    assert_eq!(world.inside(|| undo(&world.place())).unwrap(), Undone::Back(Restored::Same));
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let world = World::new(&[]);
    let ask = |request: ShapeRequest, place: Place| {
        world.inside(|| Transaction::begin(&request, &place)).unwrap_err().to_string()
    };
    let missing =
        ask(ShapeRequest { device: "wan".into(), ..request(None) }, Place::new(&world.folder, "wan"));
    assert!(missing.contains("unknown interface (available: lo, p0, eth0)"), "{missing}");
    let none = Abilities::probe().unwrap().kinds.into_iter().find(|(_, result)| result.is_err());
    let (kind, _) = none.expect("no kernel has cake_mq in which these tests were written");
    let refused = ask(request(Some(kind)), world.place());
    assert!(refused.contains("Specified qdisc kind is unknown"), "{refused}");
}
