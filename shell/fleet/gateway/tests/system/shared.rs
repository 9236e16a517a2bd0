//! One identity on two machines.
use crate::receiver::Simulated;
use crate::setup::{Setup, name, now_ms, one, until};
use fathom_fleet_agent::{AgentError, Identity, KeyKeeper};
use fathom_fleet_gateway::EventKind;

#[test]
fn the_machine_with_the_older_key_is_refused_by_name() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    setup.enroll("berlin");
    let copy = setup.dir.path().join("copy.json");
    std::fs::copy(setup.identity("berlin"), &copy).unwrap();
    let (first, second) =
        (KeyKeeper::new(&setup.identity("berlin")).unwrap(), KeyKeeper::new(&copy).unwrap());
    let write = |keeper: &KeyKeeper| setup.write(&keeper.key().unwrap(), &one("berlin"));
    // While both have the same key, nothing distinguishes them.
    assert_eq!((write(&first).status, write(&second).status), (204, 204));
    first.rotate(now_ms()).unwrap();
    // The new key was not used: the old one is valid.
    assert_eq!(write(&second).status, 204);
    assert_eq!(write(&first).status, 204);
    let refused = write(&second);
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("site berlin: another machine has a newer key"), "{refused:?}");
    assert!(matches!(second.rotate(now_ms()), Err(AgentError::Refused { status: 403, .. })));
    setup.event(|event| event.kind == EventKind::Duplicate(name("berlin")));
    assert_eq!(write(&first).status, 204);
    let recorded = || setup.admin.sites().unwrap().first().and_then(|site| site.duplicate_ms);
    until("the record", recorded);
}

#[test]
fn of_two_machines_that_replace_the_key_the_last_one_continues() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    setup.enroll("berlin");
    let copy = setup.dir.path().join("copy.json");
    std::fs::copy(setup.identity("berlin"), &copy).unwrap();
    let (first, second) =
        (KeyKeeper::new(&setup.identity("berlin")).unwrap(), KeyKeeper::new(&copy).unwrap());
    first.rotate(now_ms()).unwrap();
    second.rotate(now_ms()).unwrap();
    let write = |keeper: &KeyKeeper| setup.write(&keeper.key().unwrap(), &one("berlin")).status;
    assert_eq!((write(&first), write(&second), write(&first)), (403, 204, 403));
}

#[test]
fn a_request_on_its_way_while_the_key_is_replaced_is_repeated() {
    let engine = Simulated::start();
    let setup = Setup::new(|config| {
        config.engine = Some(fathom_fleet_gateway::Engine::new(&engine.url));
        config.grace = std::time::Duration::from_secs(60);
    });
    let old = setup.enroll("berlin");
    let keeper = KeyKeeper::new(&setup.identity("berlin")).unwrap();
    keeper.rotate(now_ms()).unwrap();
    assert_eq!(setup.write(&keeper.key().unwrap(), &one("berlin")).status, 204);
    let late = setup.write(&old, &one("berlin"));
    assert_eq!((late.status, late.header("retry-after")), (503, Some("1")));
    assert!(!setup.gateway.events().iter().any(|event| matches!(event.kind, EventKind::Duplicate(_))));
}

#[test]
fn a_key_is_replaced_once_a_day() {
    let setup = Setup::new(|_| {});
    let old = setup.enroll("berlin");
    let keeper = KeyKeeper::new(&setup.identity("berlin")).unwrap();
    let start = Identity::load(&setup.identity("berlin")).unwrap().rotated_ms;
    assert!(!keeper.rotate_if_due(start + 86_399_999).unwrap());
    assert!(keeper.rotate_if_due(start + 86_400_000).unwrap());
    assert!(!keeper.rotate_if_due(start + 86_400_001).unwrap());
    assert_ne!(keeper.key().unwrap(), old);
    let Setup { gateway, dir, .. } = setup;
    gateway.stop();
    // While the gateway is away, a failure is followed by a pause.
    let later = start + 2 * 86_400_000;
    assert!(matches!(keeper.rotate_if_due(later), Err(AgentError::Unavailable { .. })));
    assert!(!keeper.rotate_if_due(later + 599_999).unwrap());
    assert!(matches!(keeper.rotate_if_due(later + 600_000), Err(AgentError::Unavailable { .. })));
    drop(dir);
}
