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
