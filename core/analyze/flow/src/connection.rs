//! A TCP connection: dispatches each packet to both directions.
use crate::ack::IncomingAck;
use crate::flag;
use crate::half_connection::{Arrival, Context, HalfConnection};
use crate::header::Incoming;
use crate::limit::{Limit, elapsed};
use crate::probe_totals::Socket;
use crate::sequence::MAX_WINDOW_BYTES;
use crate::{End, FlowId, Offer, RttMethod, RttValidity, Segment, Sink, Times};
use alloc::boxed::Box;

/// After this idle time a SYN with another number starts a new connection: Linux's TIME_WAIT. RFC
/// 9293 requires 4 minutes, which few implement.
const IDLE_NS: u64 = 60_000_000_000;

/// How a connection ended, as far as the capture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Close {
    /// It did not end within the capture.
    #[default]
    Open,
    /// One end sent FIN.
    HalfClosed,
    /// Both ends sent FIN.
    Finished,
    /// An end sent RST.
    Reset,
}

/// A connection. Fields are ordered by use, as in [`HalfConnection`], to save cache lines.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) ends: [Socket; 2],
    pub(crate) id: FlowId,
    pub(crate) close: Close,
    /// The totals are complete as of the last packet.
    is_complete: bool,
    pub(crate) packets: u64,
    pub(crate) last: Times,
    /// Value of [`Connection::listed`] after the last packet.
    pub(crate) listed_before: usize,
    pub(crate) first: Times,
    pub(crate) halves: [HalfConnection; 2],
}

impl Connection {
    pub(crate) fn boxed(id: FlowId, ends: [Socket; 2], first: Times) -> Box<Self> {
        let mut connection = Box::<Connection>::default();
        connection.id = id;
        connection.ends = ends;
        connection.first = first;
        connection.last = first;
        connection
    }
    /// Whether this packet starts a new connection between the same ports. That is a SYN with
    /// another number if the old connection is over, has been idle for long or never got beyond its
    /// SYN; or, if no SYN was captured, a packet with distant sequence numbers after the old
    /// connection is over.
    #[inline]
    pub(crate) fn is_followed_by(&self, incoming: &Incoming<'_>) -> bool {
        let may_be = incoming.has(flag::SYN) || self.is_over(incoming);
        may_be && self.has_far_numbers(incoming)
    }
    #[inline]
    fn is_over(&self, incoming: &Incoming<'_>) -> bool {
        matches!(self.close, Close::Finished | Close::Reset)
            || elapsed(self.last.at, incoming.header.times.at) > IDLE_NS
    }
    #[cold]
    fn has_far_numbers(&self, incoming: &Incoming<'_>) -> bool {
        if incoming.has(flag::RST) {
            return false;
        }
        let (own, _) = self.pair(incoming.header.end);
        if !incoming.has(flag::SYN) {
            let start = own.counter.unwrap(incoming.header.sequence, own.highest);
            return own.counter.is_started() && start.abs_diff(own.highest) > MAX_WINDOW_BYTES;
        }
        let is_over = self.is_over(incoming);
        let is_same = own.counter.is_origin(incoming.header.sequence);
        let is_vain = !incoming.has(flag::ACK) && self.packets == own.totals.syns;
        !is_same && own.totals.packets > 0 && (is_over || is_vain)
            || (is_over && own.totals.packets == 0 && !incoming.has(flag::ACK))
    }
    pub(crate) const fn half(&self, end: End) -> &HalfConnection {
        let [a, b] = &self.halves;
        match end {
            End::A => a,
            End::B => b,
        }
    }
    fn pair(&self, end: End) -> (&HalfConnection, &HalfConnection) {
        let [a, b] = &self.halves;
        match end {
            End::A => (a, b),
            End::B => (b, a),
        }
    }
    pub(crate) const fn sockets(&self, end: End) -> [Socket; 2] {
        let [a, b] = self.ends;
        match end {
            End::A => [a, b],
            End::B => [b, a],
        }
    }
    /// Completes the totals when a new connection uses the same ports, and frees packet state.
    pub(crate) fn retire(&mut self) {
        self.finish();
        self.halves.iter_mut().for_each(HalfConnection::retire);
    }
    pub(crate) fn finish(&mut self) {
        if !self.is_complete {
            self.halves.iter_mut().for_each(|half| half.finish(self.last.at));
            self.is_complete = true;
        }
    }
    /// Completes the totals after both FINs, while the state is cached, and frees memory.
    #[inline(never)]
    fn settle(&mut self) {
        self.is_complete = false;
        self.finish();
        self.halves.iter_mut().for_each(HalfConnection::shrink);
    }
    /// Bounds memory by treating the oldest entries of this flow as acknowledged.
    pub(crate) fn forget_oldest(&mut self) {
        self.is_complete = false;
        self.halves.iter_mut().for_each(HalfConnection::forget_oldest);
    }
    /// Number of list entries that grow with unacknowledged data.
    pub(crate) fn listed(&self) -> usize {
        self.halves.iter().map(HalfConnection::listed).sum()
    }
    /// Processes a packet. All functions on this path are `inline(always)`: calls would cost a
    /// twelfth of all instructions, because values at hand on both sides would be stored and loaded
    /// again.
    #[inline(always)]
    pub(crate) fn packet<S: Sink>(&mut self, incoming: &Incoming<'_>, context: &mut Context<'_, S>) {
        self.packets += 1;
        self.last = context.header.times;
        context.sink.packet(context.flow, incoming.header);
        let [a, b] = &mut self.halves;
        let (own, other) = match context.header.end {
            End::A => (a, b),
            End::B => (b, a),
        };
        own.count(incoming, context.header.times.at);
        if u64::from(incoming.header.payload_bytes) > MAX_WINDOW_BYTES {
            own.totals.strays += 1;
            return;
        }
        if incoming.has(flag::SYN) {
            synchronise(own, other, incoming);
        }
        let is_reset = incoming.has(flag::RST);
        let is_new = incoming.has(flag::ACK) && acknowledge(own, other, incoming, context);
        if !is_reset {
            own.begin(incoming);
            segment(own, other, incoming, context);
        }
        stamp(own, incoming, is_new, context.header.times);
        own.packet_at = context.header.times.at;
        if incoming.header.flags & (flag::FIN | flag::RST) != 0 {
            self.note_close(incoming, context.header.end);
        }
        if self.close == Close::Finished {
            self.settle();
        }
    }
    fn note_close(&mut self, incoming: &Incoming<'_>, end: End) {
        if incoming.has(flag::RST) {
            self.close = Close::Reset;
            self.is_complete = false;
        } else if self.close != Close::Reset {
            let both = self.pair(end).1.fin_stop.is_some();
            self.close = if both { Close::Finished } else { Close::HalfClosed };
        }
    }
}

/// Processes a SYN: initial sequence numbers and negotiated options.
fn synchronise(own: &mut HalfConnection, other: &mut HalfConnection, incoming: &Incoming<'_>) {
    if !own.counter.is_started() {
        own.start(incoming.header.sequence, 0);
    }
    let offer = *own.totals.offer.get_or_insert_with(|| Offer::of(incoming.options));
    own.shift = Some(offer.window_shift.unwrap_or(0));
    own.syn_flags = Some(incoming.header.flags);
    let Some(others) = other.totals.offer else {
        // Scaling requires the option in both SYNs.
        if offer.window_shift.is_none() {
            other.shift = Some(0);
        }
        return;
    };
    if offer.window_shift.is_none() || others.window_shift.is_none() {
        (own.shift, other.shift) = (Some(0), Some(0));
    }
    // A missing MSS option means that the header was truncated: all stacks send it, so the default
    // of 536 (RFC 9293 section 3.7.1) would be wrong.
    if let (Some(mine), Some(its)) = (offer.mss_bytes, others.mss_bytes) {
        let stamps = if offer.timestamps && others.timestamps { STAMPS_BYTES } else { 0 };
        let full = u32::from(mine.min(its).saturating_sub(stamps));
        (own.full, other.full) = (full, full);
    }
}

/// Bytes of the timestamp option in each segment (RFC 7323 appendix A).
const STAMPS_BYTES: u16 = 12;

/// Processes the acknowledgment in a packet. Returns whether it acknowledges new data.
fn acknowledge<S: Sink>(
    own: &mut HalfConnection,
    other: &mut HalfConnection,
    incoming: &Incoming<'_>,
    context: &mut Context<'_, S>,
) -> bool {
    let stamps = incoming.header.stamps;
    let is_new = if incoming.length > 0 && other.repeats_last_ack(incoming, own.shift) {
        context.sink.unchanged_ack(
            context.flow,
            &other.repeated_ack(incoming, context.header.times, context.header.end),
        );
        false
    } else {
        learn(own, other, incoming, context)
    };
    if let Some(sent) = stamps.and_then(|stamps| other.pending_timestamps.echoed(stamps.echo)) {
        let waited = elapsed(sent.times.at, context.header.times.at);
        // A silent end may have had nothing to send: only data is answered at once.
        let was_silent = sent.is_bare && elapsed(own.packet_at, context.header.times.at) * 2 > waited;
        let validity = if was_silent { RttValidity::Ambiguous } else { RttValidity::Clean };
        other.finish_trip(sent.times, RttMethod::Timestamps, validity, stamps, context);
    }
    is_new
}

/// Processes an ACK that differs from the previous one. Returns whether it acknowledges new data.
fn learn<S: Sink>(
    own: &mut HalfConnection,
    other: &mut HalfConnection,
    incoming: &Incoming<'_>,
    context: &mut Context<'_, S>,
) -> bool {
    let answer = IncomingAck { incoming, shift: if incoming.has(flag::SYN) { Some(0) } else { own.shift } };
    let window = other.window;
    let update = other.take_ack(&answer, context);
    if update.is_stray {
        own.totals.strays += 1;
        return false;
    }
    if update.is_new || other.window != window {
        other.limit(context.header.times.at);
    }
    own.count_blocks(update.blocks as u64, update.has_duplicate);
    update.is_new
}

/// Processes the sequence space of a packet, including keep-alives with an old byte.
fn segment<S: Sink>(
    own: &mut HalfConnection,
    other: &HalfConnection,
    incoming: &Incoming<'_>,
    context: &mut Context<'_, S>,
) {
    let length = incoming.length;
    let start = own.counter.unwrap(incoming.header.sequence, own.highest);
    let is_keep_alive = start + 1 == own.highest && own.acknowledged == own.highest;
    if length == 0 && start <= own.highest && !is_keep_alive {
        return;
    }
    let arrival = Arrival {
        times: context.header.times,
        start,
        stop: start + length,
        payload: incoming.header.payload_bytes,
        stamp: incoming.header.stamp(),
        identification: incoming.header.identification,
    };
    if length == 0 && start > own.highest {
        return own.note_skipped(&arrival);
    }
    let before = own.highest;
    let is_answered = other.totals.packets > other.totals.resets;
    let Some(kind) = own.classify(&arrival, other.rtt, is_answered, context) else {
        own.totals.strays += 1;
        return;
    };
    let outstanding_bytes = own.outstanding();
    own.count_segment(&arrival, kind, (before, outstanding_bytes), incoming);
    own.limits.outstanding(context.header.times.at, outstanding_bytes);
    own.limit(context.header.times.at);
    own.recent.add(arrival.start, arrival.identification, arrival.stamp);
    let segment = Segment {
        times: context.header.times,
        end: context.header.end,
        start,
        stop: arrival.stop,
        ip_bytes: incoming.header.ip_bytes,
        kind,
        stamps: incoming.header.stamps,
        ecn: incoming.header.ecn,
        outstanding_bytes,
        window_bytes: own.window,
    };
    context.sink.segment(context.flow, &segment);
}

/// Records the packet's timestamp if the other end answers at once: to data, or to an ACK that
/// allows it to send more.
fn stamp(own: &mut HalfConnection, incoming: &Incoming<'_>, is_new: bool, times: Times) {
    if let Some(stamps) = incoming.header.stamps {
        let is_bare = incoming.length == 0;
        own.pending_timestamps.sent(times, stamps.value, !is_bare || is_new, is_bare);
    }
}

impl HalfConnection {
    /// Initializes a connection without captured SYN: its first byte is 1.
    fn begin(&mut self, incoming: &Incoming<'_>) {
        if !self.counter.is_started() {
            self.start(incoming.header.sequence, 1);
        }
    }
    fn limit(&mut self, at: i64) {
        if self.totals.first_data_at.is_none() {
            return;
        }
        let room = self.window.map(|window| (self.acknowledged + window).saturating_sub(self.highest));
        let limit = if self.fin_stop.is_some() {
            Limit::None
        } else if room.is_some_and(|room| room < u64::from(self.full.max(1))) {
            Limit::Window
        } else if self.is_short || self.highest == self.acknowledged {
            Limit::Application
        } else {
            Limit::Network
        };
        self.limits.set(at, limit);
    }
}
