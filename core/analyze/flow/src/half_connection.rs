//! One direction of a flow: what one end sent, and what the other acknowledged of it.
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

/// Whom to tell, of which flow, on which packet of it.
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
    /// Bytes of data.
    pub(crate) payload: u32,
    /// TSval, or 0.
    pub(crate) stamp: u32,
    /// Identification, or 0.
    pub(crate) identification: u16,
}

/// One direction. In order of use, as [`Totals`].
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct HalfConnection {
    pub(crate) counter: Counter,
    /// All below is acknowledged.
    pub(crate) acknowledged: u64,
    /// After the highest byte sent.
    pub(crate) highest: u64,
    pub(crate) segments: SentSegments,
    pub(crate) sacked: SackScoreboard,
    pub(crate) pending_timestamps: PendingTimestamps,
    pub(crate) repairs: Repairs,
    /// Window that the other end offers, if known.
    pub(crate) window: Option<u64>,
    /// Window field of the other end's last ACK.
    pub(crate) window_field: Option<u16>,
    /// Shift of the windows that this end offers, if known.
    pub(crate) shift: Option<u8>,
    /// TTL or hop limit of its last packet.
    pub(crate) hop_limit: u8,
    /// The last data segment was shorter than a full one.
    pub(crate) is_short: bool,
    /// An ACK of data was seen.
    pub(crate) is_answered: bool,
    /// A full segment's data, by the handshake, or 0.
    pub(crate) full: u32,
    /// Duplicate ACKs in a row.
    pub(crate) duplicates: u32,
    /// When any packet was sent last.
    pub(crate) packet_at: i64,
    /// When data was sent last.
    pub(crate) sent_at: i64,
    /// When `acknowledged` rose last.
    pub(crate) advanced_at: i64,
    /// When what was delivered was sent, at the latest (RFC 8985, `RACK.xmit_ts`).
    pub(crate) delivered: i64,
    pub(crate) rtt: Estimator,
    pub(crate) limits: Limits,
    pub(crate) totals: Totals,
    pub(crate) recent: RecentPackets,
    /// What was sent when the retransmission timer ran off: all below is sent again for that reason.
    pub(crate) timeout_until: u64,
    /// What was sent when fast recovery began (RFC 6582, `recover`).
    pub(crate) recovery_until: u64,
    /// After the last window probe.
    pub(crate) probe_stop: u64,
    /// After the FIN.
    pub(crate) fin_stop: Option<u64>,
    /// The first full segment, until it is acknowledged.
    pub(crate) first_flight: Option<u64>,
    /// Flags of its SYN, if that was seen.
    pub(crate) syn_flags: Option<u16>,
    /// What the last ACK was ahead of.
    pub(crate) early_ack: Option<EarlyAck>,
}

/// Bytes that were acknowledged before they passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyAck {
    pub(crate) start: u64,
    pub(crate) stop: u64,
    /// When the ACK passed.
    pub(crate) at: i64,
}

/// Without any packet from the other end, so many segments are kept to tell repetitions by: there is no ACK that would take them off.
const MAX_UNANSWERED: usize = 65_536;

impl HalfConnection {
    /// Bytes sent and not acknowledged in either way.
    pub(crate) fn outstanding(&self) -> u64 {
        (self.highest - self.acknowledged).saturating_sub(self.sacked.bytes())
    }
    /// Entries of lists that grow with what is not acknowledged.
    pub(crate) fn listed(&self) -> usize {
        self.segments.len() + self.pending_timestamps.len() + self.sacked.len() + self.repairs.len()
    }
    /// Begins to count at `value`, with the number on the wire.
    pub(crate) fn start(&mut self, raw: u32, value: u32) {
        self.counter.start(raw, value);
        self.acknowledged = u64::from(value);
        self.highest = u64::from(value);
    }
    /// Bytes from `start` on are sent for the first time.
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
    /// Takes the lowest segment as acknowledged, so that memory stays bounded.
    pub(crate) fn forget_oldest(&mut self) {
        if let Some((stop, unseen)) = self.segments.forget_oldest() {
            self.totals.unseen_bytes += unseen;
            self.acknowledged = self.acknowledged.max(stop);
            self.sacked.trim(self.acknowledged);
        }
        self.pending_timestamps.forget_oldest();
        self.repairs.forget_lowest();
    }
    /// The flow is over: gives memory back.
    pub(crate) fn shrink(&mut self) {
        if self.segments.len() == 0 {
            self.segments = SentSegments::default();
            // The last ACK's waits for ever: nothing is sent that would echo it.
            self.pending_timestamps.shrink();
        }
    }
    /// Nothing more comes, and the totals are complete: gives memory back.
    pub(crate) fn retire(&mut self) {
        self.segments = SentSegments::default();
        self.sacked = SackScoreboard::default();
        self.repairs = Repairs::default();
        self.pending_timestamps.shrink();
    }
    /// Completes the totals, now that all is known; `at` is the time of the flow's last packet.
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
