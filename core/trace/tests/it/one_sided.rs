//! Captures of one direction: what is said of them, and what is not. The lab's upload, whose truth is beside it, less half of its packets.
use crate::capture::read;
use fathom_capture::{Address, Reader, Step, dissect};
use fathom_metric::{CaptureSource, Metric, QueuePlace, Run};
use fathom_trace::queue::QueueWatch;
use fathom_trace::{Times, Tracer, missing_directions};
use std::path::Path;

const SENDER: [u8; 4] = [198, 18, 0, 2];
const RECEIVER: [u8; 4] = [198, 19, 0, 2];

/// What the packets of `file` tell that these hosts sent.
fn seen(file: &str, senders: &[[u8; 4]]) -> (Run, Option<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trace/lab");
    let bytes = read(&folder.join(file));
    let (mut reader, mut tracer) = (Reader::new(), Tracer::new(QueueWatch::new()));
    let (mut at, mut frames) = (0, 0);
    while at < bytes.len() {
        let (used, step) = reader.step(&bytes[at..]).unwrap();
        if let Step::Frame(frame) = step {
            frames += 1;
            let packet = dissect(frame.link, frame.original_len, frame.bytes).unwrap();
            if senders.iter().any(|sender| packet.source == Address::v4(*sender)) {
                tracer.packet(Times { at: frame.at, frame: frames }, &packet);
            }
        }
        at += used;
    }
    let (flows, watch) = tracer.finish();
    let run = fathom_trace::run(vec![CaptureSource::default()], &flows, &watch.finish());
    (run, missing_directions(&flows))
}

fn has_outstanding(run: &Run) -> bool {
    run.series.iter().any(|series| series.key.metric == Metric::Outstanding)
}

#[test]
fn both_directions_lack_nothing() {
    let (run, missing) = seen("up-sender.pcap.gz", &[SENDER, RECEIVER]);
    assert_eq!(missing, None);
    assert!(has_outstanding(&run));
}

#[test]
fn the_direction_that_is_missing_is_told_with_what_cannot_be_known() {
    for (sender, missing) in [
        (
            SENDER,
            " 4 TCP flows only one direction was captured: what 198.19.0.2 sent to 198.18.0.2 is missing",
        ),
        (
            RECEIVER,
            " 4 TCP flows only one direction was captured: what 198.18.0.2 sent to 198.19.0.2 is missing",
        ),
    ] {
        let (run, said) = seen("up-sender.pcap.gz", &[sender]);
        assert!(!has_outstanding(&run), "who sends alone has all outstanding for ever");
        let said = said.unwrap();
        assert!(said.contains(missing), "{said}");
        for flow in &run.capture.unwrap().flows {
            for side in &flow.sent {
                assert!(side.rtt.is_none() && side.limits.is_none(), "{side:?}");
                let again = side.retransmissions;
                assert_eq!((side.most_outstanding_bytes, again.packets()), (0, again.unknown_packets));
            }
        }
    }
}

#[test]
fn before_the_capture_a_queue_shows_in_one_direction_alone() {
    let (run, _) = seen("up-receiver.pcap.gz", &[SENDER]);
    let queue = &run.capture.unwrap().queues[0];
    assert_eq!(queue.place, QueuePlace::BeforeCapture);
    let rate = queue.rate_bits_per_second.unwrap().value;
    assert!((rate / 1e6 - 1.0).abs() < 0.01, "{rate}");
    // The same packets at the sender have it ahead of them: nothing is claimed.
    assert_eq!(seen("up-sender.pcap.gz", &[SENDER]).0.capture.unwrap().queues, []);
}
