//! Classification of segments.
use crate::cause::Sending;
use crate::half_connection::{Arrival, Context, HalfConnection};
use crate::limit::elapsed;
use crate::repair::Repair;
use crate::rtt::Estimator;
use crate::sent_segments::{Hole, SentSegment, Walk};
use crate::sequence::{MAX_WINDOW_BYTES, is_after};
use crate::{Lost, RetransmissionCause, SegmentKind, Sink, Times};

/// One old byte is a keep-alive only after this idle time: Linux's minimum `TCP_KEEPIDLE`.
const MIN_KEEP_ALIVE_NS: u64 = 1_000_000_000;
/// Assumed round-trip time for distinguishing reordering from retransmission if none is known:
/// shorter than on any access line, as in Wireshark.
const UNKNOWN_RTT_NS: u64 = 6_000_000;
/// Data stored after its ACK follows within this time, as [`fathom_capture::Quality`] assumes for
/// frames received by several CPUs. No sender retransmits that fast.
const DISORDER_NS: u64 = 5_000_000;

impl HalfConnection {
    /// Classifies a segment with data, SYN or FIN; `None` if it does not belong to the connection.
    /// `other` is the round-trip time on the other side of the capture point.
    pub(crate) fn classify<S: Sink>(
        &mut self,
        arrival: &Arrival,
        other: Estimator,
        is_answered: bool,
        context: &mut Context<'_, S>,
    ) -> Option<SegmentKind> {
        if arrival.start == self.highest && !self.is_probing(arrival) {
            self.extend(arrival, is_answered);
            return Some(SegmentKind::New);
        }
        if arrival.start > self.highest {
            return self.skip_ahead(arrival, is_answered);
        }
        if self.catches_up(arrival) {
            self.extend_beyond(arrival, is_answered);
            return Some(SegmentKind::New);
        }
        if self.is_probing(arrival) {
            self.probe_stop = arrival.stop;
            return Some(SegmentKind::WindowProbe);
        }
        if self.is_keep_alive(arrival) {
            return Some(SegmentKind::KeepAlive);
        }
        let path = self.rtt.with(other);
        if self.is_copy(arrival, path) {
            return Some(SegmentKind::Duplicate);
        }
        Some(self.classify_repeat(arrival, path, is_answered, context))
    }
    /// Whether the segment is new but was captured just after its ACK, in the wrong order.
    fn catches_up(&mut self, arrival: &Arrival) -> bool {
        let Some(early) = &mut self.early_ack else { return false };
        let is_first = (early.start..early.stop).contains(&arrival.start) && arrival.stop > arrival.start;
        if !is_first || elapsed(early.at, arrival.times.at) > DISORDER_NS {
            return false;
        }
        let stop = arrival.stop.min(early.stop);
        // A SYN was not counted as unseen.
        self.totals.unseen_bytes = self.totals.unseen_bytes.saturating_sub(stop - arrival.start);
        early.start = stop;
        true
    }
    /// Whether this probes a closed window: one byte (RFC 9293 section 3.8.6.1), or as Linux does,
    /// no data at the byte before the next one.
    fn is_probing(&self, arrival: &Arrival) -> bool {
        self.window == Some(0)
            && arrival.payload <= 1
            && arrival.stop - arrival.start == u64::from(arrival.payload)
            && arrival.start + 1 >= self.highest
            && self.acknowledged == self.highest
    }
    /// Whether this is a keep-alive (RFC 9293 section 3.8.4), which has no SYN or FIN.
    fn is_keep_alive(&self, arrival: &Arrival) -> bool {
        arrival.payload <= 1
            && arrival.stop - arrival.start == u64::from(arrival.payload)
            && arrival.start + 1 == self.highest
            && self.acknowledged == self.highest
            && self.fin_stop.is_none()
            && (arrival.payload == 0 || elapsed(self.sent_at, arrival.times.at) >= MIN_KEEP_ALIVE_NS)
    }
    /// Handles a segment after a gap of bytes that were not captured.
    fn skip_ahead(&mut self, arrival: &Arrival, is_answered: bool) -> Option<SegmentKind> {
        if arrival.start - self.highest > MAX_WINDOW_BYTES {
            return None;
        }
        self.open_hole(arrival);
        self.extend(arrival, is_answered);
        Some(SegmentKind::New)
    }
    /// Handles a packet without data and with a sequence number after a gap within the window: the
    /// end of a burst, or a FIN, was lost before the capture point or is late.
    #[cold]
    pub(crate) fn note_skipped(&mut self, arrival: &Arrival) {
        let sendable = self.window.map_or(0, |window| self.acknowledged + window);
        if arrival.start <= sendable {
            self.open_hole(arrival);
            self.limits.outstanding(arrival.times.at, self.outstanding());
        }
    }
    /// Records that all bytes before `arrival` were sent.
    fn open_hole(&mut self, arrival: &Arrival) {
        let hole = Hole {
            stop: arrival.start,
            opened: arrival.times,
            stamp: arrival.stamp,
            identification: arrival.identification,
        };
        self.segments.open(self.highest, hole);
        self.highest = arrival.start;
    }
    /// Whether the network copied the packet: same identification and timestamp. Without
    /// identification (IPv6): same timestamp, and too soon for the sender to have detected a loss.
    fn is_copy(&mut self, arrival: &Arrival, path: Estimator) -> bool {
        if self.recent.has(arrival.start, arrival.identification, arrival.stamp) {
            return true;
        }
        let Some(sent) =
            self.segments.at(arrival.start, Walk::Retransmission).filter(|sent| sent.start == arrival.start)
        else {
            return false;
        };
        let repair = self.repairs.starting(arrival.start);
        let last = repair.map_or(sent.times, |repair| repair.times);
        let is_same = |identification: u16, stamp: u32| {
            (identification, stamp) == (arrival.identification, arrival.stamp)
                && (identification != 0
                    || (stamp != 0 && elapsed(last.at, arrival.times.at) * 2 < path.min()))
        };
        is_same(sent.identification, sent.stamp) || repair.is_some_and(|r| is_same(r.identification, r.stamp))
    }
    /// Classifies a segment with bytes below the highest one: retransmitted or reordered.
    fn classify_repeat<S: Sink>(
        &mut self,
        arrival: &Arrival,
        path: Estimator,
        is_answered: bool,
        context: &mut Context<'_, S>,
    ) -> SegmentKind {
        let stop = arrival.stop.min(self.highest);
        if stop <= self.acknowledged || self.sacked.covers(arrival.start.max(self.acknowledged), stop) {
            let cause =
                if is_answered { RetransmissionCause::Spurious } else { RetransmissionCause::Unknown };
            let start = arrival.start.max(self.acknowledged).min(stop);
            let filled = self.fill_holes(arrival, start, stop, self.segments.hole(start, stop).is_some());
            self.note_retransmission(arrival, stop - arrival.start.min(stop) - filled, cause);
            self.extend_beyond(arrival, is_answered);
            return SegmentKind::Retransmission(cause);
        }
        let start = arrival.start.max(self.acknowledged);
        let hole = self.segments.hole(start, stop);
        let sent = self.segments.at(start, Walk::Retransmission).map(|sent| sent.times);
        let original = sent.map(|first| self.last_sent(start, first));
        let kind = match hole {
            Some((_, hole)) if is_late(arrival, &hole, path) => SegmentKind::Reordered,
            _ => SegmentKind::Retransmission(self.cause(arrival, original, hole, path)),
        };
        let filled = self.fill_holes(arrival, start, stop, hole.is_some());
        if let SegmentKind::Retransmission(cause) = kind {
            self.report_loss(arrival, (start, stop), (original, cause), context);
            self.totals.filled_packets += u64::from(filled > 0);
            self.note_retransmission(arrival, (stop - arrival.start).saturating_sub(filled), cause);
        }
        self.extend_beyond(arrival, is_answered);
        kind
    }
    /// Records the part above the highest byte as new data.
    fn extend_beyond(&mut self, arrival: &Arrival, is_answered: bool) {
        if arrival.stop > self.highest {
            self.extend(arrival, is_answered);
        }
    }
    /// Marks retransmitted segments and fills holes. Returns the number of bytes that filled holes.
    fn fill_holes(&mut self, arrival: &Arrival, start: u64, stop: u64, fills: bool) -> u64 {
        self.segments.repeat(start, stop);
        if !fills {
            return 0;
        }
        self.segments.fill(SentSegment {
            start,
            times: arrival.times,
            len: (stop - start) as u32,
            stamp: arrival.stamp,
            identification: arrival.identification,
            is_repeated: false,
            is_late: true,
        })
    }
    /// Last transmission time of the segment that contains this byte and was first sent at `first`,
    /// and whether that was a retransmission.
    fn last_sent(&self, byte: u64, first: Times) -> Sending {
        let repair = self.repairs.at(byte);
        Sending { times: repair.map_or(first, |repair| repair.times), is_repair: repair.is_some() }
    }
    fn report_loss<S: Sink>(
        &mut self,
        arrival: &Arrival,
        (start, stop): (u64, u64),
        (original, cause): (Option<Sending>, RetransmissionCause),
        context: &mut Context<'_, S>,
    ) {
        let original = original.map(|sending| sending.times);
        if let Some(original) = original {
            self.totals.repeat_time.add(elapsed(original.at, arrival.times.at));
        }
        if cause == RetransmissionCause::Spurious {
            return;
        }
        let lost = Lost { repair: arrival.times, original, end: context.header.end, start, stop, cause };
        context.sink.lost(context.flow, &lost);
    }
    /// Counts a retransmission, `repeated` bytes of which were captured before.
    fn note_retransmission(&mut self, arrival: &Arrival, repeated: u64, cause: RetransmissionCause) {
        let Arrival { times, stop, stamp, identification, .. } = *arrival;
        let repair = Repair { stop, times, stamp, identification, cause, count: 0, needless: 0 };
        let count = self.repairs.add(arrival.start, repair);
        self.repairs.settle(self.acknowledged, times.at, self.rtt.smoothed());
        *self.totals.retransmissions.of(cause) += 1;
        self.totals.max_repeats = self.totals.max_repeats.max(count);
        if repeated > 0 {
            self.totals.repeated_packets += 1;
            self.totals.repeated_bytes += repeated;
        }
    }
}

/// Whether a segment that fills a hole was sent before the one after it, so that the network
/// reordered them. Decided by timestamps, then by identification, then by time: no sender detects a
/// loss within half a round trip.
fn is_late(arrival: &Arrival, hole: &Hole, path: Estimator) -> bool {
    let (mine, behind) = (arrival.stamp, hole.stamp);
    if mine != 0 && behind != 0 && mine != behind {
        return is_after(behind, mine);
    }
    if arrival.identification != 0 && hole.identification != 0 {
        let ahead = hole.identification.wrapping_sub(arrival.identification) as i16;
        // Identifications from a counter differ by little; random ones are rarely that close.
        if ahead != 0 && ahead.unsigned_abs() <= NEAR_IDENTIFICATIONS {
            return ahead > 0;
        }
    }
    let round_trip = if path.min() > 0 { path.min() } else { UNKNOWN_RTT_NS };
    elapsed(hole.opened.at, arrival.times.at) * 2 < round_trip
}

/// Maximum reordering in packets (RFC 4737 found tens); 1 in 512 random pairs are that close.
const NEAR_IDENTIFICATIONS: u16 = 64;
