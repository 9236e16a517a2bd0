//! Changes by others: of the interface, of the state, and of its directory.
use crate::world::{BEFORE, World, request, watchdog_command};
use fathom_shaper::{Place, Restored, ShapeRequest, ShaperKind, Transaction, Undone, undo};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn begin(world: &World) -> Transaction {
    let kind = Some(ShaperKind::FlowHash);
    world.inside(|| Transaction::begin(&request(kind), &world.place())).unwrap_or_else(|e| panic!("{e}"))
}

/// A world with a committed fix.
fn shaped(setup: &[&str]) -> World {
    let world = World::new(setup);
    let mut transaction = begin(&world);
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.inside(|| transaction.commit()).unwrap();
    world
}

#[test]
fn a_queue_that_the_administrator_set_since_is_kept() {
    for (what, setup) in BEFORE {
        let world = shaped(setup);
        let own = world.place().read().unwrap().unwrap().made;
        world.shell("tc qdisc replace dev eth0 root handle 9: pfifo limit 33");
        let undone = world.inside(|| undo(&world.place())).unwrap_or_else(|e| panic!("{what}: {e}"));
        let kept = vec!["egress has the qdisc 9: pfifo since".to_owned()];
        assert_eq!(undone, Undone::Back(Restored::Kept(kept)), "{what}");
        let now = world.shown();
        assert!(now.contains("qdisc pfifo 9: dev eth0 root"), "{what}: {now}");
        assert!(
            !own.is_empty() && own.iter().all(|ifb| !now.contains(&format!("\n{ifb}:"))),
            "{what}: {now}"
        );
        assert!(world.place().read().unwrap().is_none());
        assert_eq!(world.inside(|| undo(&world.place())).unwrap(), Undone::Nothing);
    }
}

#[test]
fn a_filter_that_the_administrator_added_since_is_kept() {
    let world = shaped(&[]);
    world.shell(
        "tc filter add dev eth0 parent ffff: protocol ip prio 77 u32 match ip src 192.0.2.1/32 flowid 1:1",
    );
    let Undone::Back(Restored::Kept(kept)) = world.inside(|| undo(&world.place())).unwrap() else {
        panic!("the filter was discarded");
    };
    assert!(kept.iter().all(|line| line.starts_with("ingress has a filter u32")), "{kept:?}");
    let now = world.shown();
    assert!(now.contains("pref 77") && !now.contains("ifb-eth0") && !now.contains("mirred"), "{now}");
}

#[test]
fn the_watchdog_keeps_what_others_set_too() {
    let world = World::new(&[]);
    let mut transaction = begin(&world);
    world.inside(|| transaction.apply(watchdog_command(&world.place()), Duration::from_millis(600))).unwrap();
    world.shell("tc qdisc replace dev eth0 root handle 9: pfifo limit 33");
    world.settled();
    let now = world.shown();
    assert!(now.contains("qdisc pfifo 9: dev eth0 root") && !now.contains("ifb-eth0"), "{now}");
}

#[test]
fn a_damaged_state_is_read_from_its_copy_or_explained() {
    let world = World::new(BEFORE[1].1);
    let before = world.shown();
    let mut transaction = begin(&world);
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.inside(|| transaction.commit()).unwrap();
    let (file, copy) = (world.folder.join("eth0.fix.json"), world.folder.join("eth0.fix.copy"));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), text);
    // A digit of the earlier queue, changed: valid JSON, but not what was written.
    let changed = text.replacen("\"up\": true", "\"up\": false", 1);
    assert_ne!(changed, text);
    for damage in [Some(changed.as_str()), Some(&text[..text.len() / 2]), Some(""), None] {
        match damage {
            Some(damaged) => fs::write(&file, damaged).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert!(world.place().read().unwrap().is_some(), "{damage:?}");
        assert_eq!(Place::all(&world.folder).unwrap(), [world.place()]);
    }
    // Both: the commands that are left in them restore the interface.
    let cut = text.rfind("\"snapshot\"").unwrap();
    fs::write(&file, &text[..cut]).unwrap();
    fs::write(&copy, "").unwrap();
    let error = world.inside(|| undo(&world.place())).unwrap_err().to_string();
    let commands = error.split_once("try: ").unwrap().1.split("; then remove").next().unwrap();
    assert!(commands.contains("ip link del") && commands.contains("limit 77"), "{error}");
    world.shell(commands);
    assert_eq!(world.shown(), before, "{error}");
    fs::write(&file, "").unwrap();
    let blind = world.inside(|| undo(&world.place())).unwrap_err().to_string();
    assert!(
        blind.contains("tc qdisc del dev eth0 root") && blind.contains("ip link del ifb-eth0"),
        "{blind}"
    );
}

#[test]
fn a_directory_that_others_can_change_is_refused_and_links_are_not_followed() {
    let world = World::new(&[]);
    let before = world.shown();
    let ask = || world.inside(|| Transaction::begin(&request(None), &world.place()).map(drop));
    fs::set_permissions(&world.folder, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = ask().unwrap_err().to_string();
    assert!(refused.contains("other users can change") && refused.contains("chmod go-w"), "{refused}");
    assert!(world.inside(|| undo(&world.place())).is_err());
    fs::set_permissions(&world.folder, fs::Permissions::from_mode(0o755)).unwrap();
    // Links to a file of root, wherever a file is written.
    let secret = world.folder.join("secret");
    fs::write(&secret, "secret").unwrap();
    for name in ["fix.json.new", "fix.copy.new", "fix.last", "fix.last.new", "fix.copy"] {
        symlink(&secret, world.folder.join(format!("eth0.{name}"))).unwrap();
    }
    let mut transaction = begin(&world);
    world.inside(|| transaction.apply(watchdog_command(&world.place()), LIMIT)).unwrap();
    world.inside(|| transaction.roll_back("test")).unwrap();
    symlink(&secret, world.folder.join("eth0.fix.lock")).unwrap();
    assert!(ask().is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(world.shown(), before);
}

#[test]
fn an_unknown_interface_leaves_no_file() {
    let world = World::new(&[]);
    let place = Place::new(&world.folder, "wan");
    let request = ShapeRequest { device: "wan".into(), ..request(None) };
    world.inside(|| Transaction::begin(&request, &place).map(drop)).unwrap_err();
    world.inside(|| undo(&place)).unwrap();
    assert_eq!(fs::read_dir(&world.folder).unwrap().count(), 0);
}
