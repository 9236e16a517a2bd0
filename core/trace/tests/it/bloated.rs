//! A real capture of a bloated upload, at both ends, against its truth: 549 drops in the bottleneck, of which one was ICMP's and one
//! the sparse flow's, and so 547 the upload's.
use crate::capture::{bloated_upload, trace};
use fathom_trace::{Causes, End, FlowSummary, Lost, Sink};

const DROPPED_OF_THE_UPLOAD: u64 = 547;

/// Counts losses of which the original passed, and of which it did not.
#[derive(Default)]
struct Losses {
    passed: u64,
    missing: u64,
}

impl Sink for Losses {
    fn lost(&mut self, flow: fathom_trace::FlowId, lost: &Lost) {
        if flow.0 == UPLOAD as u32 {
            *(if lost.original.is_some() { &mut self.passed } else { &mut self.missing }) += 1;
        }
    }
}

/// The third flow of the files.
const UPLOAD: usize = 2;

fn of(name: &str) -> (FlowSummary, Losses) {
    let (flows, losses) = trace(&bloated_upload(name), Losses::default());
    (flows.flows[UPLOAD].clone(), losses)
}

#[test]
fn at_the_sender_every_retransmission_is_seen_twice() {
    let (upload, losses) = of("snd.pcap.gz");
    let sent = upload.sent_by(End::A);
    assert_eq!(sent.repeated_packets, DROPPED_OF_THE_UPLOAD);
    assert_eq!((losses.passed, losses.missing), (DROPPED_OF_THE_UPLOAD, 0));
    // Three by RACK before a third island told; no kernel told which, but none is RTO's: nothing was silent for so long.
    assert_eq!(sent.retransmissions, Causes { fast: 544, probe: 3, ..Causes::default() });
    assert_eq!(
        (sent.reordered_packets, sent.network_duplicates, sent.unseen_bytes, sent.strays),
        (0, 0, 0, 0)
    );
}

#[test]
fn at_the_receiver_every_retransmission_fills_a_hole() {
    let (upload, losses) = of("rcv.pcap.gz");
    let sent = upload.sent_by(End::A);
    assert_eq!((sent.filled_packets, sent.repeated_packets), (DROPPED_OF_THE_UPLOAD, 0));
    assert_eq!((losses.passed, losses.missing), (0, DROPPED_OF_THE_UPLOAD));
    assert_eq!(sent.retransmissions, Causes { fast: DROPPED_OF_THE_UPLOAD, ..Causes::default() });
    assert_eq!(
        (sent.reordered_packets, sent.network_duplicates, sent.unseen_bytes, sent.strays),
        (0, 0, 0, 0)
    );
}
