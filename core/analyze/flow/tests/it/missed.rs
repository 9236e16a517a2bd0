//! Captures that missed packets: the lab's upload, less some of its packets.
use crate::capture::{each_packet, lab};
use fathom_flow::{Tracer, missed_data};

/// What is said of a capture that has packets of these numbers alone, all that passed being counted from 0.
fn said(is_captured: impl Fn(u64) -> bool) -> Option<String> {
    struct Nobody;
    impl fathom_flow::Sink for Nobody {}
    let mut tracer = Tracer::new(Nobody);
    let mut number = 0;
    each_packet(&lab("up-sender"), |times, packet| {
        if is_captured(number) {
            tracer.packet(times, packet);
        }
        number += 1;
    });
    missed_data(&tracer.finish().0)
}

#[test]
fn a_whole_capture_has_all() {
    assert_eq!(said(|_| true), None);
}

/// What was on its way when a capture began is not missed by it.
#[test]
fn a_capture_that_begins_in_the_middle_has_all() {
    assert_eq!(said(|number| number >= 2000), None);
}

/// Of five packets one, and of a hundred packets twenty in a row, as a full buffer drops them.
#[test]
fn what_was_missed_is_told_with_its_share() {
    for said in [said(|number| number % 5 != 4), said(|number| number % 100 < 80)] {
        let said = said.unwrap();
        let share: f64 = said.split(' ').next().unwrap().parse().unwrap();
        assert!((17.0..22.0).contains(&share), "{said}");
        assert!(said.contains("the capture missed packets"), "{said}");
    }
}
