//! CoDel's control law: when to signal, and what.
use crate::store::{Store, Stored};
use crate::{DropReason, Ecn, MarkReason, Packet, Sink, Variant};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Time};

/// A state left less than this many intervals ago is taken up again. Source: RFC 8289 section 5.5.
const REENTRY_INTERVALS: u64 = 16;
/// Linux counts time in units of 2^10 ns.
const LINUX_TICK_SHIFT: u32 = 10;
/// What Linux takes for the largest packet: an Ethernet interface's MTU with its header.
const LINUX_MTU: Bytes = ETHERNET_FULL_FRAME;

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
    /// Besides, mark every ECN-capable packet whose sojourn exceeds this, whatever `ecn` says; for DCTCP and its like
    /// (RFC 8290 section 5.2.7). None by default.
    pub ce_threshold: Option<Duration>,
    /// Whose rules: RFC 8289 with a clock of nanoseconds, a true square root, "at or after" where time is compared; or
    /// Linux with a clock of 1024 ns, "after" for the time above target, 1514 bytes for the largest packet and an
    /// approximated square root.
    pub variant: Variant,
}

impl ControlParams {
    /// Ticks of the variant's clock: all times of the control law are in them.
    const fn ticks(&self, nanos: u64) -> u64 {
        match self.variant {
            Variant::Rfc => nanos,
            Variant::Linux => nanos >> LINUX_TICK_SHIFT,
        }
    }
    const fn interval_ticks(&self) -> u64 {
        self.ticks(self.interval.as_nanos())
    }
    /// Sojourn of what came at `arrived`: Linux cuts both ends to ticks.
    const fn sojourn(&self, arrived: Time, now: Time) -> u64 {
        self.ticks(now.as_nanos()).saturating_sub(self.ticks(arrived.as_nanos()))
    }
}

/// Signals given since dropping began, which set their pace: the next is due after interval / sqrt(count), so that
/// TCP's rate falls linearly.
///
/// Linux has 1 / sqrt(count) as a 16-bit fraction and brings it up to date with one step of Newton's method at each
/// change of `count`. Where `count` moves by more than one (on re-entry, or by drops for lack of room) the fraction is
/// off for a few signals: that is part of how Linux behaves.
#[derive(Clone, Copy, Default, Debug)]
struct Pace {
    count: u32,
    inverse_root: u16,
}

impl Pace {
    fn set(&mut self, count: u32) {
        self.count = count;
        self.inverse_root = if count == 1 { u16::MAX } else { newton_step(self.inverse_root, count) };
    }
    /// Interval / sqrt(count) in ticks.
    fn gap(self, params: &ControlParams) -> u64 {
        let interval = params.interval_ticks();
        match params.variant {
            Variant::Rfc => (interval as f64 / libm::sqrt(f64::from(self.count))) as u64,
            Variant::Linux => (interval * u64::from(self.inverse_root)) >> 16,
        }
    }
}

/// x (3 - n x^2) / 2 in 32-bit fractions, cut to 16 bits. Far from the root it leaves the range and wraps, as there.
fn newton_step(inverse_root: u16, count: u32) -> u16 {
    let x = u64::from(inverse_root) << 16;
    let square = (x * x) >> 32;
    let quarter = (3_u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
    (quarter.wrapping_mul(x) >> 47) as u16
}

/// The control law's memory of one queue; times in ticks.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ControlState {
    /// When the sojourn will have been above target for an interval; `None` while it is below.
    first_above: Option<u64>,
    dropping: bool,
    drop_next: u64,
    pace: Pace,
    /// The pace's count when dropping last began.
    last_count: u32,
}

impl ControlState {
    /// There was nothing to send.
    pub(crate) fn ran_empty(&mut self) {
        (self.first_above, self.dropping) = (None, false);
    }
    /// Drops made for lack of room count as signals too.
    pub(crate) fn add_drops(&mut self, drops: u64) {
        self.pace.count += drops as u32;
    }
}

/// A queue of [`Store`] under the control law, for the time of one dequeue.
pub(crate) struct Control<'a, P> {
    pub(crate) params: &'a ControlParams,
    pub(crate) state: &'a mut ControlState,
    pub(crate) store: &'a mut Store<P>,
    /// Largest packet seen on the link: with no more than this left there is no standing queue.
    pub(crate) max_packet: Bytes,
    /// Backlog outside `store` that counts in that test: Linux's FQ-CoDel takes the whole discipline's.
    pub(crate) other_backlog: Bytes,
}

impl<P: Packet> Control<'_, P> {
    /// The next packet to send, after the drops and the marks that are due.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let above = self.is_above(now);
        let mut stored = if above || self.state.dropping {
            self.signal_and_pop(above, now, sink)?
        } else {
            self.store.pop()?
        };
        if self.params.ce_threshold.is_some() {
            self.mark_above_threshold(&mut stored, now, sink);
        }
        Some(stored.leave(now))
    }

    /// The next packet to send while signals are given or begin to be.
    fn signal_and_pop(&mut self, above: bool, now: Time, sink: &mut impl Sink<P>) -> Option<Stored<P>> {
        let head = self.store.pop();
        match head {
            None => {
                self.state.dropping = false;
                None
            }
            _ if self.state.dropping => self.go_on_dropping(head, above, now, sink),
            _ => self.begin_dropping(head, now, sink),
        }
    }

    /// Takes the head out and tells whether the sojourn has been above target for an interval.
    fn pop(&mut self, now: Time) -> (Option<Stored<P>>, bool) {
        let above = self.is_above(now);
        (self.store.pop(), above)
    }

    /// True if the sojourn has been above target for an interval, as of the head, which is taken out next.
    #[inline]
    fn is_above(&mut self, now: Time) -> bool {
        let target = self.params.ticks(self.params.target.as_nanos());
        let is_late = |head: &&Stored<P>| self.params.sojourn(head.arrived, now) >= target;
        let late = self.store.head().filter(is_late);
        let left = |head: &Stored<P>| self.store.bytes() - head.packet.len() + self.other_backlog;
        if late.is_none_or(|head| left(head) <= self.largest_packet()) {
            self.state.first_above = None;
            return false;
        }
        let now = self.params.ticks(now.as_nanos());
        let due = now + self.params.interval_ticks();
        // Just now set, it lies in the future unless the interval is zero, which the parser refuses.
        let first_above = *self.state.first_above.get_or_insert(due);
        match self.params.variant {
            Variant::Rfc => now >= first_above,
            Variant::Linux => now > first_above,
        }
    }

    fn largest_packet(&self) -> Bytes {
        match self.params.variant {
            Variant::Rfc => self.max_packet,
            Variant::Linux => LINUX_MTU,
        }
    }

    fn go_on_dropping(
        &mut self,
        mut head: Option<Stored<P>>,
        above: bool,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<Stored<P>> {
        self.state.dropping = above;
        let ticks = self.params.ticks(now.as_nanos());
        while self.state.dropping && ticks >= self.state.drop_next {
            let Some(stored) = head else { break };
            self.state.pace.set(self.state.pace.count + 1);
            let dropped;
            (head, dropped) = self.signal(stored, now, sink);
            if self.state.dropping {
                // From the time that was due, not from now, or a slow link would signal too seldom.
                self.state.drop_next += self.state.pace.gap(self.params);
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
        let (state, now) = (&mut *self.state, self.params.ticks(now.as_nanos()));
        let recent = now.saturating_sub(state.drop_next) < self.params.interval_ticks() * REENTRY_INTERVALS;
        let delta = state.pace.count.saturating_sub(state.last_count);
        state.pace.set(if delta > 1 && recent { delta } else { 1 });
        state.last_count = state.pace.count;
        state.dropping = true;
        state.drop_next = now + state.pace.gap(self.params);
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

    /// A packet that is CE already says so already.
    fn mark_above_threshold(&self, stored: &mut Stored<P>, now: Time, sink: &mut impl Sink<P>) {
        let Some(threshold) = self.params.ce_threshold else { return };
        let is_late = self.params.sojourn(stored.arrived, now) > self.params.ticks(threshold.as_nanos());
        if is_late && matches!(stored.packet.ecn(), Ecn::Ect0 | Ecn::Ect1) {
            stored.packet.set_ce();
            sink.marked(&stored.packet, MarkReason::Threshold, now);
        }
    }
}
