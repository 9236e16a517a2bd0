//! Captures with missing packets: the lab's upload without some of its packets.
use crate::capture::{each_packet, lab};
use fathom_flow::{Tracer, missed_data};
use fathom_run::CaptureDefect;

/// Defect of a capture that contains only the selected packets, numbered from 0.
fn defect(is_captured: impl Fn(u64) -> bool) -> Option<CaptureDefect> {
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
fn a_complete_capture_has_no_defect() {
    assert_eq!(defect(|_| true), None);
}

/// Data in flight at the start of a capture does not count as missed.
#[test]
fn data_before_the_capture_is_not_missing() {
    assert_eq!(defect(|number| number >= 2000), None);
}

/// One packet in five, and twenty in a row of each hundred, as a full buffer drops them.
#[test]
fn missed_data_is_reported_with_its_share() {
    for defect in [defect(|number| number % 5 != 4), defect(|number| number % 100 < 80)] {
        let Some(CaptureDefect::MissedData { ratio, flows, all_flows, .. }) = defect else {
            panic!("{defect:?}")
        };
        assert!((0.17..0.22).contains(&ratio), "{ratio}");
        assert!((1..=all_flows).contains(&flows), "{flows} of {all_flows}");
    }
}
