//! What is counted of one direction of a flow.
use crate::rtt::{Moments, Tally};
use crate::{Offer, RetransmissionCause};
use alloc::boxed::Box;

/// Count, sum, least and greatest of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// How many.
    pub count: u64,
    /// The least; 0 if there is none.
    pub min: u64,
    /// The greatest; 0 if there is none.
    pub max: u64,
    /// Their sum. Not beside their count, as compilers add pairs by three times as many instructions.
    pub sum: u64,
}

impl Range {
    pub(crate) fn add(&mut self, value: u64) {
        // The first is above the greatest of none, if it is not that itself.
        if value > self.max {
            self.max = value;
            if self.count == 0 {
                self.min = value;
            }
        } else if value < self.min {
            self.min = value;
        }
        self.sum = self.sum.wrapping_add(value);
        self.count += 1;
    }
    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Packets by the cause of their retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Causes {
    /// [`RetransmissionCause::Fast`].
    pub fast: u64,
    /// [`RetransmissionCause::Probe`].
    pub probe: u64,
    /// [`RetransmissionCause::Timeout`].
    pub timeout: u64,
    /// [`RetransmissionCause::Spurious`], also those that were found out later.
    pub spurious: u64,
    /// [`RetransmissionCause::Unknown`].
    pub unknown: u64,
}

impl Causes {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.fast + self.probe + self.timeout + self.spurious + self.unknown
    }
    /// The count of one.
    pub(crate) const fn of(&mut self, cause: RetransmissionCause) -> &mut u64 {
        match cause {
            RetransmissionCause::Fast => &mut self.fast,
            RetransmissionCause::Probe => &mut self.probe,
            RetransmissionCause::Timeout => &mut self.timeout,
            RetransmissionCause::Spurious => &mut self.spurious,
            RetransmissionCause::Unknown => &mut self.unknown,
        }
    }
}

/// ECN (RFC 3168) as it was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnTotals {
    /// Packets with ECT(0).
    pub ect0: u64,
    /// Packets with ECT(1).
    pub ect1: u64,
    /// Packets with CE.
    pub ce: u64,
    /// Segments with ECE, the handshake's not counted.
    pub ece: u64,
    /// Segments with CWR, the handshake's not counted.
    pub cwr: u64,
}

/// What kept the sender from sending more, as time from its first data to its FIN. Seen from the capture point, so that near the
/// receiver the network's share holds what waits at the sender too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    /// Its congestion window, inferred: data is in flight, the window has room, and nothing says that the application had no more.
    pub network_ns: u64,
    /// The receiver's window: less than a full segment fits.
    pub window_ns: u64,
    /// The application: all is acknowledged, or the last segment was a short one.
    pub application_ns: u64,
}

/// Round trips from the capture point to the other end and back, ns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RttTotals {
    /// By sequence, [`crate::RttValidity::Clean`]: by cumulative ACK and by SACK.
    pub sequence: Tally,
    /// Of those, by cumulative ACK: tcptrace's `RTT_samples`.
    pub cumulative: Moments,
    /// Of those by cumulative ACK, of full segments.
    pub full_sized: Moments,
    /// Of others. While a flow is followed, each round trip is added to one of these alone, and they are summed up when it ends.
    pub(crate) smaller: Moments,
    /// By SACK, if there is one.
    pub(crate) selected: Option<Box<Moments>>,
    /// By timestamps, [`crate::RttValidity::Clean`].
    pub timestamps: Tally,
    /// SYN to SYN+ACK, or SYN+ACK to ACK, if neither was sent twice.
    pub handshake_ns: Option<u64>,
    /// From the last transmission of segments that were sent again: tcptrace's `RTT_(last)`.
    pub since_repair: Moments,
    /// ACKs of segments that were sent again.
    pub ambiguous_acks: u64,
    /// ACKs that waited for a repair of what is before.
    pub late_acks: u64,
    /// Segments acknowledged together with a later one.
    pub segments_cumulated: u64,
    /// Samples left out, as the capture's clock went back meanwhile.
    pub clock_went_back: u64,
}

impl RttTotals {
    /// No more come.
    pub(crate) fn sum_up(&mut self) {
        self.cumulative = self.full_sized.with(self.smaller);
        let selected = self.selected.as_deref().copied().unwrap_or_default();
        self.sequence.sum_up(self.cumulative.with(selected));
    }
}

/// What one end sent, and what came of it. In order of use: what each packet changes is together in memory, as a capture of many flows
/// has no room for more of each in the caches.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Totals {
    // Of each packet.
    /// Packets.
    pub packets: u64,
    /// Bytes of their IP packets.
    pub ip_bytes: u64,
    /// Packets with ACK.
    pub ack_packets: u64,
    /// Packets with ACK and without data, SYN, FIN, RST.
    pub pure_acks: u64,
    /// Longest time without a packet from this end, ns.
    pub longest_idle_ns: u64,
    /// Least and greatest TTL or hop limit.
    pub hop_limits: Option<(u8, u8)>,
    /// Windows that this end offered, bytes, those of SYN and RST left out; not scaled if the scale is not known.
    pub window_bytes: Range,
    /// Windows of 0 that it offered.
    pub zero_windows: u64,
    /// When the first data packet passed.
    pub first_data_at: Option<i64>,

    // Of each data packet, or each ACK of data.
    /// Packets with data.
    pub data_packets: u64,
    /// When the last data packet passed.
    pub last_data_at: Option<i64>,
    /// Sizes of their payloads: the sum has repeated bytes too.
    pub segment_bytes: Range,
    /// Bytes outstanding at each data segment, that included.
    pub outstanding_bytes: Range,
    /// Data packets with PSH.
    pub pushed_packets: u64,
    /// Packets with more data than a segment may have: joined by offload before they were captured.
    pub super_packets: u64,
    /// Data packets of which not all was stored.
    pub truncated_packets: u64,
    /// Bytes of data that were not stored.
    pub truncated_bytes: u64,
    /// Duplicate ACKs that the other end sent for this one's data.
    pub duplicate_acks: u64,
    /// Round trips to the other end.
    pub rtt: RttTotals,

    // Of some.
    /// Packets with SACK blocks.
    pub selective_packets: u64,
    /// Packets whose first block is a D-SACK (RFC 2883).
    pub duplicate_selective_packets: u64,
    /// Most SACK blocks in one packet.
    pub max_blocks: u64,
    /// Packets with SYN.
    pub syns: u64,
    /// Packets with FIN.
    pub fins: u64,
    /// Packets with RST.
    pub resets: u64,
    /// Packets with URG.
    pub urgent_packets: u64,
    /// ECN.
    pub ecn: EcnTotals,
    /// What it offered in its SYN, if that was seen.
    pub offer: Option<Offer>,
    /// Bytes of payload, each counted once.
    pub unique_bytes: u64,
    /// Bytes from SYN to FIN, if both were seen.
    pub stream_bytes: Option<u64>,
    /// Packets that were sent again, by cause.
    pub retransmissions: Causes,
    /// Packets of which bytes passed here before.
    pub repeated_packets: u64,
    /// Their bytes which did.
    pub repeated_bytes: u64,
    /// Retransmissions whose original never passed here: it was lost before.
    pub filled_packets: u64,
    /// Packets which the network put behind later ones.
    pub reordered_packets: u64,
    /// Packets which the network doubled.
    pub network_duplicates: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Window probes.
    pub window_probes: u64,
    /// Bytes of window probes.
    pub window_probe_bytes: u64,
    /// Most times that one segment was sent again.
    pub max_repeats: u32,
    /// Time from one transmission of a segment to the next, ns.
    pub repeat_time: Moments,
    /// Third duplicates in a row.
    pub triple_duplicates: u64,
    /// Their mean over the time from the first data to the last ACK.
    pub outstanding_time_mean: Option<f64>,
    /// Data sent before the first ACK of data: on a request, the request.
    pub initial_bytes: u64,
    /// Packets of it.
    pub initial_packets: u64,
    /// Data from the first full segment until an ACK of it: the initial window of a bulk transfer.
    pub first_flight_bytes: u64,
    /// Full segments in it, rounded up.
    pub first_flight_segments: u64,
    /// What the sender waited for.
    pub shares: Shares,
    /// Bytes that were acknowledged and never passed here: the capture missed them, or they took another way.
    pub unseen_bytes: u64,
    /// Packets whose numbers do not belong to the connection.
    pub strays: u64,
}
