//! CoDel, RFC 8289: the control law as a part of its own, and the discipline with one queue.
use crate::store::{Store, Stored};
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
use fathom_units::{Bytes, Duration, Time};

/// A state left less than this many intervals ago is taken up again. Source: RFC 8289 section 5.5.
const REENTRY_INTERVALS: u64 = 16;

/// Parameters of the control law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlParams {
    /// Acceptable standing queue; default 5 ms (RFC 8289 section 4.3).
    ///
    /// It must be at least the time that one full packet takes on the link, or the control law fights the link: at
    /// 3 Mbit/s 1514 bytes take 4.04 ms and 5 ms serves; at 1 Mbit/s they take 12.1 ms and a target of 20 ms is
    /// suitable. CAKE uses the larger of 5 ms and 1.5 packet times.
    pub target: Duration,
    /// How long the sojourn must stay above `target` before the first drop; default 100 ms, the RTT of most paths.
    pub interval: Duration,
    /// Mark packets of ECN-capable flows where others are dropped (RFC 8289 section 5.6, RFC 3168).
    pub ecn: bool,
}

/// Parameters of [`Codel`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParams {
    /// The control law's.
    pub control: ControlParams,
    /// Packets it holds; default 1000, as in Linux.
    pub limit_packets: u64,
}

/// The control law's memory of one queue.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ControlState {
    /// When the sojourn will have been above target for an interval; `None` while it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since dropping began, which sets their pace.
    count: u64,
    /// `count` when dropping last began.
    last_count: u64,
}

impl ControlState {
    /// Drops made for lack of room count as signals too.
    pub(crate) fn add_drops(&mut self, drops: u64) {
        self.count += drops;
    }
    /// The control law: the next signal is due at `from` + interval / sqrt(count), so that TCP's rate falls linearly.
    fn schedule(&mut self, from: Time, interval: Duration) {
        let nanos = interval.as_nanos() as f64 / libm::sqrt(self.count as f64);
        self.drop_next = from + Duration::from_nanos(nanos as u64);
    }
}

/// A queue of [`Store`] under the control law, for the time of one dequeue.
pub(crate) struct Control<'a, P> {
    pub(crate) params: &'a ControlParams,
    pub(crate) state: &'a mut ControlState,
    pub(crate) store: &'a mut Store<P>,
    /// Largest packet seen on the link: with no more than this left there is no standing queue.
    pub(crate) max_packet: Bytes,
}

impl<P: Packet> Control<'_, P> {
    /// The next packet to send, after the drops and the mark that are due.
    pub(crate) fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let (mut head, above) = self.pop(now);
        if self.state.dropping {
            head = self.go_on_dropping(head, above, now, sink);
        } else if above {
            head = self.begin_dropping(head, now, sink);
        }
        head.map(|stored| {
            let sojourn = stored.sojourn(now);
            (stored.packet, sojourn)
        })
    }

    /// Takes the head out and tells whether the sojourn has been above target for an interval.
    fn pop(&mut self, now: Time) -> (Option<Stored<P>>, bool) {
        let head = self.store.pop();
        let standing = head.as_ref().is_some_and(|stored| stored.sojourn(now) >= self.params.target)
            && self.store.bytes() > self.max_packet;
        if !standing {
            self.state.first_above = None;
            return (head, false);
        }
        let first_above = *self.state.first_above.get_or_insert(now + self.params.interval);
        // Just now set, it lies in the future unless the interval is zero, which the parser refuses.
        (head, now >= first_above)
    }

    fn go_on_dropping(
        &mut self,
        mut head: Option<Stored<P>>,
        above: bool,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<Stored<P>> {
        self.state.dropping = above;
        while self.state.dropping && now >= self.state.drop_next {
            let Some(stored) = head else { break };
            self.state.count += 1;
            let dropped;
            (head, dropped) = self.signal(stored, now, sink);
            if self.state.dropping {
                // From the time that was due, not from now, or a slow link would signal too seldom.
                self.state.schedule(self.state.drop_next, self.params.interval);
            }
            if !dropped {
                break;
            }
        }
        head
    }

    fn begin_dropping(
        &mut self,
        head: Option<Stored<P>>,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<Stored<P>> {
        let (next, _) = self.signal(head?, now, sink);
        let state = &mut *self.state;
        let recent = now.saturating_since(state.drop_next) < self.params.interval * REENTRY_INTERVALS;
        let delta = state.count.saturating_sub(state.last_count);
        state.count = if delta > 1 && recent { delta } else { 1 };
        state.last_count = state.count;
        state.dropping = true;
        state.schedule(now, self.params.interval);
        next
    }

    /// Marks `stored` if it can be, and gives it back; else drops it and gives the next. True if it dropped.
    fn signal(
        &mut self,
        mut stored: Stored<P>,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> (Option<Stored<P>>, bool) {
        if self.params.ecn && stored.packet.ecn() != Ecn::NotEct {
            stored.packet.set_ce();
            sink.marked(&stored.packet, MarkReason::Aqm, now);
            return (Some(stored), false);
        }
        stored.drop_into(DropReason::Aqm, now, sink);
        let (next, above) = self.pop(now);
        self.state.dropping &= above;
        (next, true)
    }
}

/// CoDel with a single queue.
pub struct Codel<P> {
    params: CodelParams,
    state: ControlState,
    store: Store<P>,
    max_packet: Bytes,
}

impl<P: Packet> Codel<P> {
    /// An empty queue. Nothing is left to chance, so the seed does not matter.
    pub fn new(params: CodelParams, _seed: u64) -> Self {
        Codel { params, state: ControlState::default(), store: Store::new(), max_packet: Bytes::ZERO }
    }
}

impl<P: Packet> Qdisc<P> for Codel<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.max_packet = self.max_packet.max(packet.len());
        if self.store.backlog().packets < self.params.limit_packets {
            self.store.push(packet, now);
        } else {
            sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let (params, state, store) = (&self.params.control, &mut self.state, &mut self.store);
        Control { params, state, store, max_packet: self.max_packet }.dequeue(now, sink)
    }
    fn next_ready(&self, _now: Time) -> Option<Time> {
        None
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
