//! One direction of a flow: data sent by one end, and its acknowledgments by the other.
use crate::header::Header;
use crate::limit::{Limit, Limits};
use crate::pending_timestamps::PendingTimestamps;
use crate::recent_packets::RecentPackets;
use crate::repair::Repairs;
use crate::rtt::Estimator;
use crate::sack_scoreboard::SackScoreboard;
use crate::sent_segments::{SentSegment, SentSegments};
use crate::sequence::Counter;
use crate::totals::Totals;
use crate::{FlowId, Times};

/// The sink, the flow, and the packet being processed.
pub(crate) struct Context<'a, S> {
    pub(crate) sink: &'a mut S,
    pub(crate) flow: FlowId,
    pub(crate) header: &'a Header,
}

/// A segment as it arrives at the capture point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) times: Times,
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) payload: u32,
    /// TSval, or 0.
    pub(crate) stamp: u32,
    /// IPv4 identification, or 0.
    pub(crate) identification: u16,
}

/// One direction. Fields are ordered by use, as in [`Totals`].
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct HalfConnection {
    pub(crate) counter: Counter,
    /// All bytes below are acknowledged.
    pub(crate) acknowledged: u64,
    /// Byte after the highest one sent.
    pub(crate) highest: u64,
    pub(crate) segments: SentSegments,
    pub(crate) sacked: SackScoreboard,
    pub(crate) pending_timestamps: PendingTimestamps,
    pub(crate) repairs: Repairs,
    /// Receive window offered by the other end, if known.
    pub(crate) window: Option<u64>,
    /// Window field of the other end's last ACK.
    pub(crate) window_field: Option<u16>,
    /// Window scale of this end, if known.
    pub(crate) shift: Option<u8>,
    /// TTL or hop limit of its last packet.
    pub(crate) hop_limit: u8,
    /// The last data segment was shorter than a full-size one.
    pub(crate) is_short: bool,
    /// An ACK of data was captured.
    pub(crate) is_answered: bool,
    /// Payload of a full-size segment, from the handshake, or 0.
    pub(crate) full: u32,
    pub(crate) duplicates: u32,
    pub(crate) packet_at: i64,
    pub(crate) sent_at: i64,
    /// Time when `acknowledged` last increased.
    pub(crate) advanced_at: i64,
    /// Latest transmission time of delivered data (RFC 8985, `RACK.xmit_ts`).
    pub(crate) delivered: i64,
    pub(crate) rtt: Estimator,
    pub(crate) limits: Limits,
    pub(crate) totals: Totals,
    pub(crate) recent: RecentPackets,
    /// Highest byte sent when the retransmission timer expired.
    pub(crate) timeout_until: u64,
    /// Highest byte sent when fast recovery started (RFC 6582, `recover`).
    pub(crate) recovery_until: u64,
    /// End of the last window probe.
    pub(crate) probe_stop: u64,
    pub(crate) fin_stop: Option<u64>,
    /// Start of the first full-size segment, until it is acknowledged.
    pub(crate) first_flight: Option<u64>,
    /// Flags of its SYN, if captured.
    pub(crate) syn_flags: Option<u16>,
    /// Bytes that the last ACK acknowledged before they were captured.
    pub(crate) early_ack: Option<EarlyAck>,
}

/// Bytes acknowledged before they were captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyAck {
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) at: i64,
}

/// Number of segments kept to detect retransmissions if no ACK of the other end removes them.
const MAX_UNANSWERED: usize = 65_536;

impl HalfConnection {
    /// Bytes in flight: neither acknowledged nor selectively acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        (self.highest - self.acknowledged).saturating_sub(self.sacked.bytes())
    }
    /// Number of list entries that grow with unacknowledged data.
    pub(crate) fn listed(&self) -> usize {
        self.segments.len() + self.pending_timestamps.len() + self.sacked.len() + self.repairs.len()
    }
    /// Initializes the sequence number: `raw` on the wire is `value`.
    pub(crate) fn start(&mut self, raw: u32, value: u32) {
        self.counter.start(raw, value);
        self.acknowledged = u64::from(value);
        self.highest = u64::from(value);
    }
    pub(crate) fn extend(&mut self, arrival: &Arrival, is_answered: bool) {
        let start = arrival.start.max(self.highest);
        self.segments.push(SentSegment {
            start,
            times: arrival.times,
            len: (arrival.stop - start) as u32,
            stamp: arrival.stamp,
            identification: arrival.identification,
            is_repeated: false,
            is_late: false,
        });
        self.highest = arrival.stop;
        if !is_answered && self.segments.len() > MAX_UNANSWERED {
            self.forget_oldest();
        }
    }
    /// Treats the lowest segment as acknowledged, to bound memory.
    pub(crate) fn forget_oldest(&mut self) {
        if let Some((stop, unseen)) = self.segments.forget_oldest() {
            self.totals.unseen_bytes += unseen;
            self.acknowledged = self.acknowledged.max(stop);
            self.sacked.trim(self.acknowledged);
        }
        self.pending_timestamps.forget_oldest();
        self.repairs.forget_lowest();
    }
    /// Frees memory after the end of the flow.
    pub(crate) fn shrink(&mut self) {
        if self.segments.len() == 0 {
            self.segments = SentSegments::default();
            // The timestamp of the last ACK is never echoed.
            self.pending_timestamps.shrink();
        }
    }
    /// Frees memory; the totals are complete and no packet follows.
    pub(crate) fn retire(&mut self) {
        self.segments = SentSegments::default();
        self.sacked = SackScoreboard::default();
        self.repairs = Repairs::default();
        self.pending_timestamps.shrink();
    }
    /// Completes the totals; `at` is the time of the flow's last packet.
    pub(crate) fn finish(&mut self, at: i64) {
        self.limits.set(at, Limit::None);
        self.totals.shares = self.limits.shares;
        self.totals.outstanding_time_mean = self.limits.mean();
        self.totals.rtt.sum_up();
        let has_syn = self.totals.offer.is_some();
        let numbers = u64::from(self.fin_stop.is_some()) + 1;
        let holes = self.segments.hole_bytes() + self.totals.unseen_bytes;
        self.totals.unique_bytes = self.highest.saturating_sub(numbers + holes);
        self.totals.stream_bytes = self.fin_stop.filter(|_| has_syn).map(|stop| stop.saturating_sub(2));
    }
}
