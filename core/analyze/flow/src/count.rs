//! Counters of packets and segments.
use crate::SegmentKind;
use crate::flag;
use crate::half_connection::{Arrival, HalfConnection};
use crate::header::Incoming;
use crate::limit::elapsed;
use crate::totals::Totals;

/// The two ECN bits (RFC 3168 section 5).
mod ecn {
    pub(super) const ECT1: u8 = 1;
    pub(super) const ECT0: u8 = 2;
    pub(super) const CE: u8 = 3;
}

impl HalfConnection {
    #[inline(always)]
    pub(crate) fn count(&mut self, incoming: &Incoming<'_>, at: i64) {
        let header = incoming.header;
        let totals = &mut self.totals;
        let idle = elapsed(self.packet_at, at);
        if idle > totals.longest_idle_ns && totals.packets > 0 {
            totals.longest_idle_ns = idle;
        }
        totals.packets += 1;
        totals.ip_bytes += u64::from(header.ip_bytes);
        if header.hop_limit != self.hop_limit || totals.packets == 1 {
            self.hop_limit = header.hop_limit;
            totals.note_hop_limit(header.hop_limit);
        }
        totals.ack_packets += u64::from(incoming.has(flag::ACK));
        let is_plain = header.flags & (flag::SYN | flag::FIN | flag::RST) == 0;
        totals.pure_acks += u64::from(is_plain && header.payload_bytes == 0 && incoming.has(flag::ACK));
        if header.flags & (flag::SYN | flag::RST) == 0 {
            let window = u64::from(header.window) << self.shift.unwrap_or(0);
            totals.window_bytes.add(window);
            totals.zero_windows += u64::from(window == 0);
        }
        if !is_plain {
            totals.note_ends(header.flags);
        }
        if header.flags & (flag::URG | flag::ECE | flag::CWR) != 0 || header.ecn != 0 {
            self.count_marks(incoming, is_plain);
        }
    }
    #[cold]
    fn count_marks(&mut self, incoming: &Incoming<'_>, is_plain: bool) {
        self.totals.urgent_packets += u64::from(incoming.has(flag::URG));
        let ecn = &mut self.totals.ecn;
        match incoming.header.ecn {
            ecn::ECT0 => ecn.ect0 += 1,
            ecn::ECT1 => ecn.ect1 += 1,
            ecn::CE => ecn.ce += 1,
            _ => {}
        }
        if is_plain {
            ecn.ece += u64::from(incoming.has(flag::ECE));
            ecn.cwr += u64::from(incoming.has(flag::CWR));
        }
    }
    pub(crate) fn count_blocks(&mut self, blocks: u64, has_duplicate: bool) {
        if blocks > 0 {
            self.totals.selective_packets += 1;
            self.totals.duplicate_selective_packets += u64::from(has_duplicate);
            self.totals.max_blocks = self.totals.max_blocks.max(blocks);
        }
    }
    /// Counts a segment; `before`: highest sequence number before it; `outstanding`: bytes with it.
    #[inline(always)]
    pub(crate) fn count_segment(
        &mut self,
        arrival: &Arrival,
        kind: SegmentKind,
        (before, outstanding): (u64, u64),
        incoming: &Incoming<'_>,
    ) {
        if kind != SegmentKind::New {
            self.totals.note_kind(kind, arrival.payload);
        }
        if incoming.has(flag::FIN) {
            self.note_fin(arrival.stop, kind);
        }
        if arrival.payload > 0 {
            self.totals.outstanding_bytes.add(outstanding);
            self.count_data(arrival, kind, before, incoming);
        }
    }
    /// Records the position of the FIN. Its first captured transmission may fill a hole.
    #[cold]
    fn note_fin(&mut self, stop: u64, kind: SegmentKind) {
        if kind == SegmentKind::New || self.fin_stop.is_none() {
            self.fin_stop = Some(stop);
        }
    }
    #[inline(always)]
    fn count_data(&mut self, arrival: &Arrival, kind: SegmentKind, before: u64, incoming: &Incoming<'_>) {
        let payload = u64::from(arrival.payload);
        let at = arrival.times.at;
        let totals = &mut self.totals;
        totals.data_packets += 1;
        totals.segment_bytes.add(payload);
        totals.pushed_packets += u64::from(incoming.has(flag::PSH));
        let stored = u64::from(incoming.header.stored_bytes);
        if stored < payload {
            totals.truncated_packets += 1;
            totals.truncated_bytes += payload - stored;
        }
        totals.super_packets += u64::from(self.full > 0 && arrival.payload > self.full);
        totals.first_data_at.get_or_insert(at);
        totals.last_data_at = Some(at);
        if kind == SegmentKind::New {
            self.count_first(arrival, before);
        }
        self.sent_at = at;
    }
    /// Counts data that was captured for the first time, at the end of the data sent.
    fn count_first(&mut self, arrival: &Arrival, before: u64) {
        let payload = u64::from(arrival.payload);
        let full = self.full;
        let is_whole = full == arrival.payload || full == 0 || arrival.payload.is_multiple_of(full);
        self.is_short = !is_whole;
        if !self.is_answered {
            self.totals.initial_bytes += payload;
            self.totals.initial_packets += 1;
        }
        if self.full > 0 && arrival.payload >= self.full && self.totals.first_flight_segments == 0 {
            self.first_flight = Some(before);
        }
        if self.first_flight.is_some() {
            self.totals.first_flight_bytes += payload;
            self.totals.first_flight_segments += payload.div_ceil(u64::from(self.full.max(1)));
        }
    }
}

impl Totals {
    #[cold]
    fn note_kind(&mut self, kind: SegmentKind, payload: u32) {
        match kind {
            SegmentKind::New | SegmentKind::Retransmission(_) => {}
            SegmentKind::Reordered => self.reordered_packets += 1,
            SegmentKind::Duplicate => self.network_duplicates += 1,
            SegmentKind::KeepAlive => self.keep_alives += 1,
            SegmentKind::WindowProbe => {
                self.window_probes += 1;
                self.window_probe_bytes += u64::from(payload);
            }
        }
    }
    #[cold]
    fn note_hop_limit(&mut self, hop_limit: u8) {
        let (min, max) = self.hop_limits.unwrap_or((hop_limit, hop_limit));
        self.hop_limits = Some((min.min(hop_limit), max.max(hop_limit)));
    }
    #[cold]
    fn note_ends(&mut self, flags: u16) {
        self.syns += u64::from(flags & flag::SYN != 0);
        self.fins += u64::from(flags & flag::FIN != 0);
        self.resets += u64::from(flags & flag::RST != 0);
    }
}
