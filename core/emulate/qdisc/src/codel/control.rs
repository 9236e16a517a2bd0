//! CoDel's control law: when to send a congestion signal, and which (drop or mark).
use crate::store::{Store, Stored};
use crate::{DropReason, Ecn, MarkReason, Packet, Sink, Variant};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Time};

/// Dropping that ended less than this many intervals ago resumes its pace (RFC 8289 section 5.5).
const REENTRY_INTERVALS: u64 = 16;
/// Linux counts time in units of 2^10 ns.
const LINUX_TICK_SHIFT: u32 = 10;
/// Linux's value for the largest packet: the MTU of an Ethernet interface plus the header.
const LINUX_MTU: Bytes = ETHERNET_FULL_FRAME;

/// Parameters of the control law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlParams {
    /// Acceptable standing queue delay; default 5 ms (RFC 8289 section 4.3).
    ///
    /// It must be at least the transmission time of one full packet, or the control law reacts to
    /// the link itself. At 3 Mbit/s 1514 bytes take 4.04 ms, so 5 ms works. At 1 Mbit/s they take
    /// 12.1 ms, so use 20 ms. CAKE uses the larger of 5 ms and 1.5 packet times.
    pub target: Duration,
    /// Time above `target` before the first drop; default 100 ms, the RTT of most paths.
    pub interval: Duration,
    /// Mark packets of ECN-capable flows instead of dropping them (RFC 8289 section 5.6, RFC 3168).
    pub ecn: bool,
    /// Also mark every ECN-capable packet with a longer sojourn than this, independent of `ecn`;
    /// for DCTCP and similar senders (RFC 8290 section 5.2.7). None by default.
    pub ce_threshold: Option<Duration>,
    /// The rules to follow. RFC 8289: a nanosecond clock, exact square roots, and "at or after" in
    /// time comparisons. Linux: a 1024 ns clock, approximated square roots, "after" for the time
    /// above target, and 1514 bytes as the largest packet.
    pub variant: Variant,
}

impl ControlParams {
    /// Converts to ticks of the variant's clock, which all times of the control law use.
    const fn ticks(&self, nanos: u64) -> u64 {
        match self.variant {
            Variant::Rfc => nanos,
            Variant::Linux => nanos >> LINUX_TICK_SHIFT,
        }
    }
    const fn interval_ticks(&self) -> u64 {
        self.ticks(self.interval.as_nanos())
    }
    /// Sojourn in ticks; Linux rounds both ends down.
    const fn sojourn(&self, arrived: Time, now: Time) -> u64 {
        self.ticks(now.as_nanos()).saturating_sub(self.ticks(arrived.as_nanos()))
    }
}

/// Signals since dropping began. The gaps are interval / sqrt(count): TCP's rate falls linearly.
///
/// Linux keeps 1 / sqrt(count) as a 16-bit fraction and updates it with one Newton step per change
/// of `count`. When `count` changes by more than one (on re-entry, or through overflow drops), the
/// fraction is inaccurate for a few signals. This imitates that.
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

/// x (3 - n x^2) / 2 in 32-bit fractions, cut to 16 bits. Far from the root it wraps, as in Linux.
fn newton_step(inverse_root: u16, count: u32) -> u16 {
    let x = u64::from(inverse_root) << 16;
    let square = (x * x) >> 32;
    let quarter = (3_u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
    (quarter.wrapping_mul(x) >> 47) as u16
}

/// The control law's state for one queue; times in ticks.
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
    pub(crate) fn ran_empty(&mut self) {
        (self.first_above, self.dropping) = (None, false);
    }
    /// Overflow drops count as signals too.
    pub(crate) fn add_drops(&mut self, drops: u64) {
        self.pace.count += drops as u32;
    }
}

/// A [`Store`] under the control law, for one dequeue.
pub(crate) struct Control<'a, P> {
    pub(crate) params: &'a ControlParams,
    pub(crate) state: &'a mut ControlState,
    pub(crate) store: &'a mut Store<P>,
    /// Largest packet seen on the link. If no more than this remains, there is no standing queue.
    pub(crate) max_packet: Bytes,
    /// Backlog outside `store` for this test: Linux's FQ-CoDel uses that of all flows.
    pub(crate) other_backlog: Bytes,
}

impl<P: Packet> Control<'_, P> {
    /// The next packet to send, after the drops and marks that are due.
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

    /// The next packet to send while dropping, or when dropping begins.
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

    /// Removes the head. The flag is [`Self::is_above`] for it.
    fn pop(&mut self, now: Time) -> (Option<Stored<P>>, bool) {
        let above = self.is_above(now);
        (self.store.pop(), above)
    }

    /// True if the sojourn, as of the current head, has been above target for an interval.
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
        // A value set just now is in the future: the parser rejects an interval of zero.
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
                // From when it was due, not from now, or a slow link would signal too rarely.
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

    /// Marks `stored` and returns it, or drops it and returns the next packet and true.
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

    /// A packet that is already CE is left alone.
    fn mark_above_threshold(&self, stored: &mut Stored<P>, now: Time, sink: &mut impl Sink<P>) {
        let Some(threshold) = self.params.ce_threshold else { return };
        let is_late = self.params.sojourn(stored.arrived, now) > self.params.ticks(threshold.as_nanos());
        if is_late && matches!(stored.packet.ecn(), Ecn::Ect0 | Ecn::Ect1) {
            stored.packet.set_ce();
            sink.marked(&stored.packet, MarkReason::Threshold, now);
        }
    }
}
