//! The configuration of sqm-scripts.
use crate::conflicts::tree;
use fathom_shaper::{Framing, ShapeRequest, ShaperKind, mark_replaced, sqm_queues};
use fathom_units::Rate;
use std::path::Path;

/// As LuCI writes it, with a comment and another section.
const CONFIG: &str = "\
# by hand
config queue 'eth1'
\toption enabled '1'
\toption interface 'wan'
\toption download '85000'
\toption upload \"10000\"
\toption qdisc 'cake'
\toption script 'piece_of_cake.qos'
\toption linklayer 'atm'
\toption overhead '44'
\toption tcMPU '96'
\toption eqdisc_opts 'nat # no comment'

config queue
\toption interface 'lan'
\toption enabled '0'
\toption download '0'
\toption upload '2000'
\toption qdisc fq_codel
\toption linklayer 'none'
\toption overhead '44'

config other
\toption enabled '1'
";

#[test]
fn queues_are_read_as_sqm_scripts_reads_them() {
    let root = tree("sqm-read", &[("etc/config/sqm", CONFIG)]);
    let [wan, lan] = &sqm_queues(&root).unwrap()[..] else { panic!("two queues") };
    let mbit = |rate: u64| Some(Rate::from_bits_per_second(rate * 1_000_000));
    let expected = ShapeRequest {
        device: "wan".to_owned(),
        up: mbit(10),
        down: mbit(85),
        shaper: Some(ShaperKind::Cake),
        framing: Framing { overhead: Some(44), mpu: 96, atm: true },
        round_trip: None,
    };
    assert_eq!((&wan.shape, wan.is_enabled, wan.is_replaced), (&expected, true, false));
    assert_eq!((lan.shape.up, lan.shape.down, lan.is_enabled), (mbit(2), None, false));
    assert_eq!(lan.shape.framing, Framing { overhead: None, mpu: 0, atm: false });
    assert_eq!(lan.shape.shaper, Some(ShaperKind::HtbFqCodel));
}

#[test]
fn a_queue_is_replaced_and_given_back() {
    let root = tree("sqm-replace", &[("etc/config/sqm", CONFIG)]);
    mark_replaced(&root, "wan", true).unwrap();
    let replaced = sqm_queues(&root).unwrap();
    assert_eq!((replaced[0].is_enabled, replaced[0].is_replaced), (false, true));
    // What was not enabled stays so.
    mark_replaced(&root, "lan", true).unwrap();
    assert_eq!(sqm_queues(&root).unwrap(), replaced);
    mark_replaced(&root, "wan", false).unwrap();
    assert_eq!(std::fs::read_to_string(root.join("etc/config/sqm")).unwrap(), CONFIG);
}

#[test]
fn text_that_is_no_configuration_has_no_queues() {
    for text in ["", "config queue", "option enabled '1'", "config queue\n\toption interface 'a b'", "'''\"#"]
    {
        let root = tree("sqm-bad", &[("etc/config/sqm", text)]);
        assert!(sqm_queues(&root).unwrap().is_empty(), "{text}");
    }
    assert!(sqm_queues(Path::new("/nonexistent")).unwrap().is_empty());
}

/// What `fathom fix --export openwrt-sqm` writes, read as sqm-scripts reads it.
#[test]
fn an_exported_queue_is_read_as_it_was_requested() {
    use fathom_shaper_export::{Line, Platform, QueueKind, export};
    let queues = [(QueueKind::Cake, ShaperKind::Cake), (QueueKind::FqCodel, ShaperKind::HtbFqCodel)];
    for seed in 0..200 {
        let mut rng = fathom_units::Rng::new(seed);
        let mut below = |n: u64| rng.next_u64() % n;
        let mut rate = || (below(4) > 0).then(|| Rate::from_bits_per_second(1_000 * (1 + below(5_000_000))));
        let rates = fathom_units::PerDirection {
            up: rate().or(Some(Rate::from_bits_per_second(5_000_000))),
            down: rate(),
        };
        let (overhead, atm) = ((below(2) == 0).then(|| below(200) as u16), below(2) == 0);
        let framing = Framing { overhead, mpu: [0, 64][below(2) as usize], atm };
        let (queue, shaper) = queues[below(2) as usize];
        let line = Line {
            wan: "pppoe-wan".to_owned(),
            lan: None,
            rates,
            framing,
            round_trip: None,
            queue: Some(queue),
        };
        let text = export(Platform::OpenwrtSqm, &line).unwrap().text;
        let root = tree("sqm-export", &[("etc/config/sqm", &format!("{CONFIG}\n{text}"))]);
        let [.., found] = &sqm_queues(&root).unwrap()[..] else { panic!("no queue") };
        // Without an overhead, sqm-scripts needs the usual one to count cells or a minimum.
        let usual = (atm || framing.mpu > 0).then_some(if atm { 44 } else { 14 });
        let framing = Framing { overhead: overhead.or(usual), ..framing };
        let expected = ShapeRequest {
            device: "pppoe-wan".to_owned(),
            up: rates.up,
            down: rates.down,
            shaper: Some(shaper),
            framing,
            round_trip: None,
        };
        assert_eq!(
            (&found.shape, found.is_enabled, found.is_replaced),
            (&expected, true, false),
            "seed {seed}:\n{text}"
        );
    }
}
