//! Captures of one direction: what is reported and what is not. The lab's upload with known ground
//! truth, without half of its packets.
use crate::capture::{each_packet, lab};
use fathom_bottleneck::QueueWatch;
use fathom_capture::Address;
use fathom_flow::{Tracer, missing_directions};
use fathom_run::{CaptureDefect, CaptureSource, Metric, QueuePlace, Run};

const SENDER: [u8; 4] = [198, 18, 0, 2];
const RECEIVER: [u8; 4] = [198, 19, 0, 2];

/// Results from only the packets sent by these hosts.
fn seen(name: &str, senders: &[[u8; 4]]) -> (Run, Option<CaptureDefect>) {
    let mut tracer = Tracer::new(QueueWatch::new());
    each_packet(&lab(name), |times, packet| {
        if senders.iter().any(|sender| packet.source == Address::v4(*sender)) {
            tracer.packet(times, packet);
        }
    });
    let (flows, watch) = tracer.finish();
    let run = fathom_capture_run::run(vec![CaptureSource::default()], &flows, &watch.finish());
    (run, missing_directions(&flows))
}

fn has_outstanding(run: &Run) -> bool {
    run.series.iter().any(|series| series.key.metric == Metric::Outstanding)
}

#[test]
fn a_capture_of_both_directions_is_complete() {
    let (run, missing) = seen("up-sender", &[SENDER, RECEIVER]);
    assert_eq!(missing, None);
    assert!(has_outstanding(&run));
}

#[test]
fn a_missing_direction_is_reported_and_dependent_values_are_omitted() {
    for (sender, other) in [(SENDER, RECEIVER), (RECEIVER, SENDER)] {
        let (run, defect) = seen("up-sender", &[sender]);
        assert!(!has_outstanding(&run), "who sends alone has all outstanding for ever");
        let hosts = [other, sender].map(|host| Some(Address::v4(host).to_string()));
        let Some(CaptureDefect::OneDirection { flows: 1.., all_flows: 4, from, to }) = defect else {
            panic!("{defect:?}");
        };
        assert_eq!([from, to], hosts);
        for flow in &run.capture.unwrap().flows {
            for side in &flow.sent {
                assert!(side.rtt.is_none() && side.limits.is_none(), "{side:?}");
                let again = side.retransmissions;
                assert_eq!((side.max_outstanding_bytes, again.packets()), (0, again.unknown_packets));
            }
        }
    }
}

#[test]
fn a_queue_before_the_capture_point_is_found_with_one_direction() {
    let (run, _) = seen("up-receiver", &[SENDER]);
    let queue = &run.capture.unwrap().queues[0];
    assert_eq!(queue.place, QueuePlace::BeforeCapture);
    let rate = queue.rate_bits_per_second.unwrap().value;
    assert!((rate / 1e6 - 1.0).abs() < 0.01, "{rate}");
    // The same packets at the sender have the queue ahead of them: no location is reported.
    assert_eq!(seen("up-sender", &[SENDER]).0.capture.unwrap().queues, []);
}
