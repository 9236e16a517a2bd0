//! A real capture of a bloated upload at both ends, compared with the ground truth: 549 drops at
//! the bottleneck, one of them of ICMP and one of the sparse flow, which leaves 547 of the upload.
use crate::capture::{bloated_upload, trace};
use fathom_flow::{Causes, End, FlowSummary, Lost, Sink};

const DROPPED_OF_THE_UPLOAD: u64 = 547;

/// Counts losses with and without a captured original.
#[derive(Default)]
struct Losses {
    passed: u64,
    missing: u64,
}

impl Sink for Losses {
    fn lost(&mut self, flow: fathom_flow::FlowId, lost: &Lost) {
        if flow.0 == UPLOAD as u32 {
            *(if lost.original.is_some() { &mut self.passed } else { &mut self.missing }) += 1;
        }
    }
}

/// Index of the upload: the third flow of the files.
const UPLOAD: usize = 2;

fn of(name: &str) -> (FlowSummary, Losses) {
    let (flows, losses) = trace(&bloated_upload(name), Losses::default());
    (flows.flows[UPLOAD].clone(), losses)
}

#[test]
fn at_the_sender_every_retransmission_is_seen_twice() {
    let (upload, losses) = of("snd");
    let sent = upload.sent_by(End::A);
    assert_eq!(sent.repeated_packets, DROPPED_OF_THE_UPLOAD);
    assert_eq!((losses.passed, losses.missing), (DROPPED_OF_THE_UPLOAD, 0));
    // A retransmission overtook one of them before SACK reported it (frame 146883). None is a
    // timeout: there was no silence of that length.
    assert_eq!(sent.retransmissions, Causes { fast: 546, probe: 1, ..Causes::default() });
    assert_eq!(
        (sent.reordered_packets, sent.network_duplicates, sent.unseen_bytes, sent.strays),
        (0, 0, 0, 0)
    );
}

#[test]
fn at_the_receiver_every_retransmission_fills_a_hole() {
    let (upload, losses) = of("rcv");
    let sent = upload.sent_by(End::A);
    assert_eq!((sent.filled_packets, sent.repeated_packets), (DROPPED_OF_THE_UPLOAD, 0));
    assert_eq!((losses.passed, losses.missing), (0, DROPPED_OF_THE_UPLOAD));
    assert_eq!(sent.retransmissions, Causes { fast: DROPPED_OF_THE_UPLOAD, ..Causes::default() });
    assert_eq!(
        (sent.reordered_packets, sent.network_duplicates, sent.unseen_bytes, sent.strays),
        (0, 0, 0, 0)
    );
}

/// Values of tcptrace 6.6.7 (`-lrW --csv`) for the same flow. Its bytes in flight are omitted,
/// because it counts one byte too many and ignores SACK. So is its count of triple duplicate ACKs
/// (375), which restarts when a window changes. The file contains headers only, so the whole
/// payload counts as truncated.
#[test]
fn counts_equal_those_of_tcptrace() {
    let (upload, _) = of("snd");
    let (a, b) = (upload.sent_by(End::A), upload.sent_by(End::B));
    assert_eq!((a.packets, a.ack_packets, a.pure_acks, a.data_packets), (100_831, 100_830, 1, 100_829));
    assert_eq!((b.ack_packets, b.pure_acks, b.selective_packets, b.max_blocks), (58_134, 58_132, 14_230, 3));
    assert_eq!((a.segment_bytes.sum, a.unique_bytes, a.repeated_bytes), (145_998_981, 145_206_925, 792_056));
    assert_eq!((a.segment_bytes.min, a.segment_bytes.max, a.pushed_packets), (37, 1448, 43_413));
    assert_eq!((b.window_bytes.min, b.window_bytes.max, b.zero_windows), (65_536, 8_034_304, 0));
    assert_eq!((a.truncated_packets, a.truncated_bytes, a.initial_bytes), (100_829, 145_998_981, 37));
    assert_eq!((a.longest_idle_ns / 100_000, b.longest_idle_ns / 100_000), (1892, 1901));
    assert_eq!((a.duplicate_acks, a.max_repeats, a.repeat_time.count), (13_529, 1, 547));
    let rtt = &a.rtt;
    assert_eq!((rtt.cumulative.count, rtt.segments_cumulated, rtt.ambiguous_acks), (43_902, 55_145, 5));
    assert_eq!((rtt.late_acks, rtt.since_repair.count), (542, 5));
    let tenths = |nanos: f64| (nanos / 1e5).round() / 10.0;
    let least_and_most = (tenths(rtt.cumulative.min as f64), tenths(rtt.cumulative.max as f64));
    assert_eq!(least_and_most, (10.3, 1032.9));
    let mean_and_deviation = (rtt.cumulative.mean(), rtt.cumulative.standard_deviation());
    assert_eq!(
        (mean_and_deviation.0.map(tenths), mean_and_deviation.1.map(tenths)),
        (Some(800.2), Some(193.0))
    );
}

/// Bytes in flight exclude SACKed bytes: they are 35 % below tcptrace's maximum of 2,227,025, and
/// close to the kernel's largest window (953 segments) plus segments that were lost and not
/// retransmitted yet.
#[test]
fn outstanding_bytes_are_about_the_congestion_window() {
    let (upload, _) = of("snd");
    let sent = upload.sent_by(End::A);
    let cwnd = 1_379_944.0;
    let ratio = sent.outstanding_bytes.max as f64 / cwnd;
    assert!((1.0..1.06).contains(&ratio), "{ratio}");
    assert_eq!((sent.first_flight_segments, sent.shares.window_ns), (10, 0));
}
