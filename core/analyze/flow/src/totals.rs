//! Totals of one direction of a flow.
use crate::rtt::{Moments, Tally};
use crate::{Offer, RetransmissionCause};
use alloc::boxed::Box;

/// Count, sum, minimum and maximum of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// Number of values.
    pub count: u64,
    /// Minimum; 0 without values.
    pub min: u64,
    /// Maximum; 0 without values.
    pub max: u64,
    /// Sum. Next to the count, compilers would use three times as many instructions.
    pub sum: u64,
}

impl Range {
    pub(crate) fn add(&mut self, value: u64) {
        // The first value exceeds the initial maximum of 0, unless it is 0 itself.
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
    /// Mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Retransmissions by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Causes {
    /// [`RetransmissionCause::Fast`].
    pub fast: u64,
    /// [`RetransmissionCause::Probe`].
    pub probe: u64,
    /// [`RetransmissionCause::Timeout`].
    pub timeout: u64,
    /// [`RetransmissionCause::Spurious`], including those detected later.
    pub spurious: u64,
    /// [`RetransmissionCause::Unknown`].
    pub unknown: u64,
}

impl Causes {
    /// Number of all retransmissions.
    pub const fn total(&self) -> u64 {
        self.fast + self.probe + self.timeout + self.spurious + self.unknown
    }
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

/// Use of ECN (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnTotals {
    /// Number of packets with ECT(0).
    pub ect0: u64,
    /// Number of packets with ECT(1).
    pub ect1: u64,
    /// Number of packets with CE.
    pub ce: u64,
    /// Number of segments with ECE, except in the handshake.
    pub ece: u64,
    /// Number of segments with CWR, except in the handshake.
    pub cwr: u64,
}

/// Time by what limited the sender, from its first data to its FIN, as seen from the capture point.
/// Near the receiver, the network's share includes queueing in the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    /// Limited by the congestion window, inferred: data is in flight, the receive window has room,
    /// and nothing indicates that the application had no more data.
    pub network_ns: u64,
    /// Limited by the receive window: less than a full-size segment fits.
    pub window_ns: u64,
    /// Limited by the application: all data is acknowledged, or the last segment was short.
    pub application_ns: u64,
}

/// Round-trip times from the capture point to the other end and back, ns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RttTotals {
    /// [`crate::RttMethod::Sequence`], [`crate::RttValidity::Clean`]: cumulative ACKs and SACK.
    pub sequence: Tally,
    /// The part from cumulative ACKs: tcptrace's `RTT_samples`.
    pub cumulative: Moments,
    /// The part from cumulative ACKs of full-size segments.
    pub full_sized: Moments,
    /// The part from cumulative ACKs of other segments. While a flow is followed, each sample is
    /// added to one of these only; they are combined when it ends.
    pub(crate) smaller: Moments,
    /// The part from SACK, if there is any.
    pub(crate) selected: Option<Box<Moments>>,
    /// [`crate::RttMethod::Timestamps`] with [`crate::RttValidity::Clean`].
    pub timestamps: Tally,
    /// From SYN to SYN+ACK, or from SYN+ACK to ACK, if neither was retransmitted.
    pub handshake_ns: Option<u64>,
    /// From the last transmission of retransmitted segments: tcptrace's `RTT_(last)`.
    pub since_repair: Moments,
    /// ACKs of retransmitted segments.
    pub ambiguous_acks: u64,
    /// ACKs that waited for the retransmission of an earlier segment.
    pub late_acks: u64,
    /// Segments acknowledged together with a later one.
    pub segments_cumulated: u64,
    /// Samples omitted because the capture's clock stepped back.
    pub clock_went_back: u64,
}

impl RttTotals {
    /// Combines the parts after the last sample.
    pub(crate) fn sum_up(&mut self) {
        self.cumulative = self.full_sized.with(self.smaller);
        let selected = self.selected.as_deref().copied().unwrap_or_default();
        self.sequence.sum_up(self.cumulative.with(selected));
    }
}

/// Totals of one end. Fields are ordered by use: those that each packet changes are adjacent in
/// memory, because with many flows the CPU caches only have room for those.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Totals {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub ip_bytes: u64,
    /// Number of packets with ACK.
    pub ack_packets: u64,
    /// Number of packets with ACK and without data, SYN, FIN, RST.
    pub pure_acks: u64,
    /// Longest time without a packet from this end, ns.
    pub longest_idle_ns: u64,
    /// Minimum and maximum TTL or hop limit.
    pub hop_limits: Option<(u8, u8)>,
    /// Receive windows in bytes, except of SYN and RST; not scaled if the scale is unknown.
    pub window_bytes: Range,
    /// Number of zero windows offered.
    pub zero_windows: u64,
    /// Time of the first data packet.
    pub first_data_at: Option<i64>,

    // Changed by each data packet, or each ACK of data.
    /// Number of packets with data.
    pub data_packets: u64,
    /// Time of the last data packet.
    pub last_data_at: Option<i64>,
    /// Payload sizes; the sum includes retransmissions.
    pub segment_bytes: Range,
    /// Bytes in flight at each data segment, including it.
    pub outstanding_bytes: Range,
    /// Number of data packets with PSH.
    pub pushed_packets: u64,
    /// Number of packets above the maximum segment size, merged by offload before the capture.
    pub super_packets: u64,
    /// Number of data packets that were not stored completely.
    pub truncated_packets: u64,
    /// Payload bytes that were not stored.
    pub truncated_bytes: u64,
    /// Number of duplicate ACKs that the other end sent for this end's data.
    pub duplicate_acks: u64,
    /// Round-trip times to the other end.
    pub rtt: RttTotals,

    // Changed by some packets only.
    /// Number of packets with SACK blocks.
    pub selective_packets: u64,
    /// Number of packets with a D-SACK as first block (RFC 2883).
    pub duplicate_selective_packets: u64,
    /// Maximum number of SACK blocks in a packet.
    pub max_blocks: u64,
    /// Number of packets with SYN.
    pub syns: u64,
    /// Number of packets with FIN.
    pub fins: u64,
    /// Number of packets with RST.
    pub resets: u64,
    /// Number of packets with URG.
    pub urgent_packets: u64,
    /// Use of ECN.
    pub ecn: EcnTotals,
    /// Options of its SYN, if captured.
    pub offer: Option<Offer>,
    /// Payload bytes without retransmissions.
    pub unique_bytes: u64,
    /// Bytes from SYN to FIN, if both were captured.
    pub stream_bytes: Option<u64>,
    /// Retransmitted packets by cause.
    pub retransmissions: Causes,
    /// Number of packets with bytes that were captured before.
    pub repeated_packets: u64,
    /// Number of those bytes.
    pub repeated_bytes: u64,
    /// Number of retransmissions with an original that was lost before the capture point.
    pub filled_packets: u64,
    /// Number of packets that the network reordered.
    pub reordered_packets: u64,
    /// Number of packets that the network duplicated.
    pub network_duplicates: u64,
    /// Number of keep-alives.
    pub keep_alives: u64,
    /// Number of window probes.
    pub window_probes: u64,
    /// Payload bytes of window probes.
    pub window_probe_bytes: u64,
    /// Maximum number of retransmissions of one segment.
    pub max_repeats: u32,
    /// Time between consecutive transmissions of a segment, ns.
    pub repeat_time: Moments,
    /// Number of times that three duplicate ACKs arrived in a row.
    pub triple_duplicates: u64,
    /// Mean bytes in flight from the first data to the last ACK.
    pub outstanding_time_mean: Option<f64>,
    /// Data sent before the first ACK of data; in a client, the request.
    pub initial_bytes: u64,
    /// Number of packets with that data.
    pub initial_packets: u64,
    /// Data from the first full-size segment to its ACK: the initial window of a bulk transfer.
    pub first_flight_bytes: u64,
    /// Number of full-size segments in it, rounded up.
    pub first_flight_segments: u64,
    /// Time by what limited the sender.
    pub shares: Shares,
    /// Bytes acknowledged but not captured: the capture missed them, or they took another path.
    pub unseen_bytes: u64,
    /// Number of packets with sequence numbers outside of the connection.
    pub strays: u64,
}
