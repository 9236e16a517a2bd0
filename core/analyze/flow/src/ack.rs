//! Processing of ACKs: newly acknowledged data, and round-trip time samples.
use crate::flag;
use crate::half_connection::{Context, EarlyAck, HalfConnection};
use crate::header::Incoming;
use crate::limit::elapsed;
use crate::option::Blocks;
use crate::sack_scoreboard::DUP_THRESH;
use crate::sent_segments::{AckedSegments, SentSegment};
use crate::sequence::{MAX_WINDOW_BYTES, is_after};
use crate::{
    Ack, End, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Sink, Spurious, SpuriousProof, Times,
};
use fathom_capture::Stamps;

/// A header with ACK, and the window scale of its sender, if known; 0 for a SYN.
pub(crate) struct IncomingAck<'a> {
    pub(crate) incoming: &'a Incoming<'a>,
    pub(crate) shift: Option<u8>,
}

/// Result of processing an ACK, counted for its sender.
#[derive(Clone, Copy, Default)]
pub(crate) struct AckUpdate {
    pub(crate) is_new: bool,
    /// The acknowledgment number does not belong to the connection.
    pub(crate) is_stray: bool,
    pub(crate) blocks: usize,
    pub(crate) has_duplicate: bool,
}

/// Effect of a higher cumulative ACK.
#[derive(Clone, Copy, Default)]
struct CumulativeUpdate {
    /// Number of bytes acknowledged for the first time.
    newly: u64,
    /// First transmission of the last acknowledged segment, or the latest time a hole was filled.
    sent_at: Option<i64>,
}

#[derive(Clone, Copy, Default)]
struct SackUpdate {
    blocks: [(u64, u64); 4],
    count: usize,
    /// Number of bytes acknowledged for the first time.
    newly: u64,
    /// End of the newest bytes in the first block, which arrived last (RFC 2018 section 4).
    arrived: Option<u64>,
    /// First block, if it is a D-SACK.
    duplicate: Option<(u64, u64)>,
}

impl HalfConnection {
    /// Processes an ACK from the other end, which is `context.header.end`.
    pub(crate) fn take_ack<S: Sink>(
        &mut self,
        answer: &IncomingAck<'_>,
        context: &mut Context<'_, S>,
    ) -> AckUpdate {
        if !self.counter.is_started() {
            self.start(answer.incoming.header.acknowledgement, 1);
            // The SYN may be stored after its ACK in the file.
            self.early_ack = Some(EarlyAck { start: 0, stop: 1, at: context.header.times.at });
        }
        let ack = self.counter.unwrap(answer.incoming.header.acknowledgement, self.acknowledged);
        if ack > self.highest
            && (answer.incoming.has(flag::RST) || !self.accept_unseen(ack, context.header.times.at))
        {
            return AckUpdate { is_stray: true, ..AckUpdate::default() };
        }
        let at = context.header.times.at;
        let before = self.acknowledged;
        let selected = match answer.incoming.options {
            [] => SackUpdate::default(),
            options => self.take_sack(options, ack),
        };
        let cumulative =
            if ack > before { self.advance(ack, answer, context) } else { CumulativeUpdate::default() };
        let newly = selected.newly + cumulative.newly;
        let is_duplicate = self.count_duplicate(ack, before, answer);
        if ack >= before && !answer.incoming.has(flag::RST) {
            self.take_window(answer);
        }
        if newly > 0 {
            self.limits.outstanding(at, self.outstanding());
        }
        let ack_event = Ack {
            times: context.header.times,
            end: context.header.end,
            acknowledgement: ack,
            newly_bytes: newly,
            blocks: selected.blocks.get(..selected.count).unwrap_or_default(),
            is_duplicate,
            window_bytes: u64::from(answer.incoming.header.window) << answer.shift.unwrap_or(0),
            stamps: answer.incoming.header.stamps,
            echoes_congestion: answer.incoming.has(flag::ECE),
        };
        context.sink.ack(context.flow, &ack_event);
        let is_new = ack > before;
        let arrived = selected.arrived.filter(|stop| *stop > ack).and_then(|stop| self.segments.ending(stop));
        if let Some(sent) = arrived.filter(|sent| !sent.is_repeated).map(|sent| sent.times) {
            let raised_by = || cumulative.sent_at.max(self.repairs.latest(before, ack));
            let is_stale = is_new && raised_by() > Some(sent.at);
            self.sample_selected(sent, is_stale, answer, context);
        }
        if let Some(range) = selected.duplicate {
            self.take_dsack(range, context);
        }
        AckUpdate {
            is_new,
            is_stray: false,
            blocks: selected.count,
            has_duplicate: selected.duplicate.is_some(),
        }
    }
    #[inline]
    pub(crate) fn repeats_last_ack(&self, incoming: &Incoming<'_>, shift: Option<u8>) -> bool {
        let header = incoming.header;
        self.counter.is(header.acknowledgement, self.acknowledged)
            && self.window_field == Some(header.window)
            && self.window == offered(header.window, shift)
            && header.flags & (flag::SYN | flag::RST | flag::ECE) == 0
            && incoming.options.is_empty()
    }
    #[inline]
    pub(crate) fn repeated_ack(&self, incoming: &Incoming<'_>, times: Times, end: End) -> Ack<'static> {
        Ack {
            times,
            end,
            acknowledgement: self.acknowledged,
            newly_bytes: 0,
            blocks: &[],
            is_duplicate: false,
            window_bytes: self.window.unwrap_or(0),
            stamps: incoming.header.stamps,
            echoes_congestion: false,
        }
    }
    /// Accepts an ACK of bytes that the capture missed. Returns false if they exceed any window.
    fn accept_unseen(&mut self, ack: u64, at: i64) -> bool {
        let unseen = ack - self.highest;
        if unseen > MAX_WINDOW_BYTES {
            return false;
        }
        // A window probe's byte was captured but is not in the segment list.
        if ack > self.probe_stop {
            self.totals.unseen_bytes += unseen;
            self.early_ack = Some(EarlyAck { start: self.highest, stop: ack, at });
        }
        self.highest = ack;
        true
    }
    /// Processes a cumulative ACK of all bytes below `ack`.
    fn advance<S: Sink>(
        &mut self,
        ack: u64,
        answer: &IncomingAck<'_>,
        context: &mut Context<'_, S>,
    ) -> CumulativeUpdate {
        let before = self.acknowledged;
        self.check_last_repair(before, answer, context);
        let last = ack - 1;
        let was_selected = !self.sacked.is_empty() && self.sacked.has(last);
        let selected = if self.sacked.is_empty() { 0 } else { self.sacked.trim(ack) };
        let acked = self.segments.acknowledge(ack);
        self.acknowledged = ack;
        self.advanced_at = context.header.times.at;
        self.duplicates = 0;
        self.totals.unseen_bytes += acked.unseen;
        self.totals.rtt.segments_cumulated += u64::from(acked.segments.saturating_sub(1));
        self.is_answered |= ack > 1;
        if self.first_flight.is_some_and(|start| ack > start) {
            self.first_flight = None;
        }
        match acked.last {
            // SACK acknowledged it before: this ACK waited for a retransmission.
            Some(_) if was_selected => self.totals.rtt.late_acks += 1,
            Some(sent) => self.sample(&sent, &acked, before, answer, context),
            None => {}
        }
        let sent_at = acked.last.map(|sent| sent.times.at).max(acked.late_at);
        CumulativeUpdate { newly: ack - before - selected, sent_at }
    }
    /// Takes a round-trip time sample from a cumulative ACK.
    fn sample<S: Sink>(
        &mut self,
        sent: &SentSegment,
        acked: &AckedSegments,
        before: u64,
        answer: &IncomingAck<'_>,
        context: &mut Context<'_, S>,
    ) {
        let at = context.header.times.at;
        let is_handshake = sent.stop() == 1 && sent.start == 0;
        let method = if is_handshake { RttMethod::Handshake } else { RttMethod::Sequence };
        if sent.is_repeated {
            self.totals.rtt.ambiguous_acks += 1;
            let repair = self.repairs.at(sent.stop() - 1).map_or(sent.times, |repair| repair.times);
            self.totals.rtt.since_repair.add(elapsed(repair.at, at));
            self.finish_trip(repair, method, RttValidity::Ambiguous, answer.incoming.header.stamps, context);
            return;
        }
        self.delivered = self.delivered.max(sent.times.at);
        let repaired = || self.repairs.latest(before, sent.start).max(acked.late_at);
        let waited = acked.unseen > 0 || (acked.has_repairs && repaired() > Some(sent.times.at));
        let validity = if waited { RttValidity::Ambiguous } else { RttValidity::Clean };
        self.totals.rtt.late_acks += u64::from(waited);
        let rtt = at.saturating_sub(sent.times.at);
        if rtt >= 0 && validity == RttValidity::Clean {
            let totals = &mut self.totals.rtt;
            let is_full = self.full > 0 && sent.len >= self.full;
            if is_full { &mut totals.full_sized } else { &mut totals.smaller }.add(rtt as u64);
            if is_handshake {
                totals.handshake_ns = Some(rtt as u64);
            }
        }
        self.finish_trip(sent.times, method, validity, answer.incoming.header.stamps, context);
    }
    /// Takes a round-trip time sample from a SACK of a segment that was sent once. It `is_stale` if
    /// a later transmission raised the cumulative ACK: then the segment had arrived long before,
    /// and the ACKs that reported it first were lost.
    fn sample_selected<S: Sink>(
        &mut self,
        sent: Times,
        is_stale: bool,
        answer: &IncomingAck<'_>,
        context: &mut Context<'_, S>,
    ) {
        self.delivered = self.delivered.max(sent.at);
        let validity = if is_stale { RttValidity::Ambiguous } else { RttValidity::Clean };
        if let Ok(rtt) = u64::try_from(context.header.times.at.saturating_sub(sent.at))
            && !is_stale
        {
            self.totals.rtt.selected.get_or_insert_default().add(rtt);
        }
        self.finish_trip(sent, RttMethod::Sequence, validity, answer.incoming.header.stamps, context);
    }
    /// Records and reports a round-trip time. Negative ones (clock stepped back) are only counted.
    pub(crate) fn finish_trip<S: Sink>(
        &mut self,
        sent: Times,
        method: RttMethod,
        validity: RttValidity,
        stamps: Option<Stamps>,
        context: &mut Context<'_, S>,
    ) {
        let Ok(nanos) = u64::try_from(context.header.times.at.saturating_sub(sent.at)) else {
            self.totals.rtt.clock_went_back += 1;
            return;
        };
        if validity == RttValidity::Clean {
            match method {
                RttMethod::Timestamps => self.totals.rtt.timestamps.add(nanos),
                RttMethod::Sequence | RttMethod::Handshake => {
                    self.rtt.add(nanos);
                    self.totals.rtt.sequence.sort(nanos);
                }
            }
        }
        let end = context.header.end.other();
        let (sent_at, sent_frame) = (sent.at, sent.frame);
        let round_trip =
            RoundTrip { times: context.header.times, sent_at, sent_frame, end, method, validity, stamps };
        context.sink.round_trip(context.flow, &round_trip);
    }
    fn take_sack(&mut self, options: &[u8], ack: u64) -> SackUpdate {
        let mut selected = SackUpdate::default();
        for (place, (start, stop)) in Blocks::of(options).as_slice().iter().enumerate() {
            let start = self.counter.unwrap(*start, self.acknowledged);
            let stop = self.counter.unwrap(*stop, self.acknowledged);
            if start >= stop || start > self.highest + MAX_WINDOW_BYTES {
                continue;
            }
            if let Some(block) = selected.blocks.get_mut(selected.count) {
                *block = (start, stop);
                selected.count += 1;
            }
            let is_inside = |outer: &(u64, u64)| place == 1 && outer.0 >= start && outer.1 <= stop;
            if place == 0 && stop <= ack {
                selected.duplicate = Some((start, stop));
            } else if let Some(inner) = selected.blocks.first().copied().filter(is_inside) {
                selected.duplicate = Some(inner);
            }
        }
        let blocks = selected.blocks;
        let others = blocks.iter().take(selected.count).filter(|block| Some(**block) != selected.duplicate);
        for (place, block) in others.enumerate() {
            let end = self.take_sack_block(*block, ack, &mut selected.newly);
            // Later blocks repeat earlier reports; new bytes in them mean that an ACK was lost.
            selected.arrived = if place == 0 { end } else { selected.arrived };
        }
        selected
    }
    /// Processes a block and returns the end of the new bytes in it.
    fn take_sack_block(&mut self, (start, stop): (u64, u64), ack: u64, newly: &mut u64) -> Option<u64> {
        if stop <= self.highest && self.sacked.is_recent_block((start, stop)) {
            return None;
        }
        let stop = stop.min(self.highest);
        let mut from = start.max(self.acknowledged).max(ack);
        let mut end = None;
        while let Some((gap, until)) = self.sacked.uncovered(from, stop).filter(|_| from < stop) {
            self.sacked.insert(gap, until);
            *newly += until - gap;
            from = until;
            end = Some(until);
        }
        end
    }
    /// RFC 5681 section 2.
    fn count_duplicate(&mut self, ack: u64, before: u64, answer: &IncomingAck<'_>) -> bool {
        let is_duplicate = ack == before
            && answer.incoming.length == 0
            && !answer.incoming.has(flag::RST)
            && self.highest > self.acknowledged
            && self.window_field == Some(answer.incoming.header.window);
        if is_duplicate {
            self.duplicates += 1;
            self.totals.duplicate_acks += 1;
            self.totals.triple_duplicates += u64::from(self.duplicates == DUP_THRESH);
        }
        is_duplicate
    }
    fn take_window(&mut self, answer: &IncomingAck<'_>) {
        let field = answer.incoming.header.window;
        self.window_field = Some(field);
        self.window = offered(field, answer.shift);
    }
}

/// The window in bytes, if known: a field of 0 is 0 with any scale.
#[inline]
fn offered(field: u16, shift: Option<u8>) -> Option<u64> {
    match shift {
        Some(shift) => Some(u64::from(field) << shift),
        None => (field == 0).then_some(0),
    }
}

/// Detection of spurious retransmissions.
impl HalfConnection {
    /// Checks the retransmission at `first`, the lowest unacknowledged byte, when an ACK passes it:
    /// the ACK may answer the retransmission or the original.
    fn check_last_repair<S: Sink>(
        &mut self,
        first: u64,
        answer: &IncomingAck<'_>,
        context: &mut Context<'_, S>,
    ) {
        let Some(repair) = self.repairs.first(first).copied() else { return };
        let echo = answer.incoming.header.stamps.map(|stamps| stamps.echo);
        let proof = match echo.filter(|_| repair.stamp != 0) {
            Some(echo) => is_after(repair.stamp, echo).then_some(SpuriousProof::Timestamps),
            None => {
                let since = elapsed(repair.times.at, context.header.times.at);
                (since * 2 < self.rtt.min()).then_some(SpuriousProof::TooSoon)
            }
        };
        match proof {
            Some(proof) => self.mark_spurious(first, proof, context),
            None => self.delivered = self.delivered.max(repair.times.at),
        }
    }
    /// Processes a D-SACK: the receiver has these bytes twice.
    fn take_dsack<S: Sink>(&mut self, (start, stop): (u64, u64), context: &mut Context<'_, S>) {
        let mut from = start;
        while let Some(at) = self.repairs.next(from, stop) {
            self.mark_spurious(at, SpuriousProof::DuplicateSack, context);
            from = at + 1;
        }
    }
    /// Reports the retransmission at `start` as spurious, once.
    fn mark_spurious<S: Sink>(&mut self, start: u64, proof: SpuriousProof, context: &mut Context<'_, S>) {
        let Some(repair) = self.repairs.needless(start) else { return };
        if repair.cause == RetransmissionCause::Spurious {
            return;
        }
        let counted = self.totals.retransmissions.of(repair.cause);
        *counted = counted.saturating_sub(1);
        self.totals.retransmissions.spurious += 1;
        let end: End = context.header.end.other();
        let spurious = Spurious {
            times: context.header.times,
            repair: repair.times,
            end,
            start,
            stop: repair.stop,
            cause: repair.cause,
            proof,
        };
        context.sink.spurious(context.flow, &spurious);
    }
}
