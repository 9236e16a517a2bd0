//! Propagation delay.
use alloc::collections::VecDeque;
use fathom_units::{Duration, Time};

/// A delay line: every packet takes the same time, so packets leave in order.
///
/// Its capacity is unlimited: propagation is never charged to a buffer.
pub struct DelayLine<P> {
    delay: Duration,
    packets: VecDeque<(Time, P)>,
}

impl<P> DelayLine<P> {
    /// Creates an empty line.
    pub const fn new(delay: Duration) -> Self {
        DelayLine { delay, packets: VecDeque::new() }
    }
    /// The delay of every packet.
    pub const fn delay(&self) -> Duration {
        self.delay
    }
    /// Adds `packet` at `now`, which must not decrease and may be in the future.
    #[inline]
    pub fn push(&mut self, packet: P, now: Time) {
        self.packets.push_back((now + self.delay, packet));
    }
    /// When the first packet leaves.
    pub fn next(&self) -> Option<Time> {
        self.packets.front().map(|(time, _)| *time)
    }
    /// [`Self::next`] with [`Time::MAX`] for an empty line.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.packets.front().map_or(Time::MAX, |(time, _)| *time)
    }
    /// The first packet if it leaves by `now`, and its time of departure.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next()? > now {
            return None;
        }
        self.packets.pop_front().map(|(time, packet)| (packet, time))
    }
    /// Packets that have entered by `now`.
    pub(crate) fn begun(&self, now: Time) -> impl Iterator<Item = &P> {
        let latest = now + self.delay;
        self.packets.iter().filter(move |(time, _)| *time <= latest).map(|(_, packet)| packet)
    }
    /// Packets that enter later.
    pub(crate) fn ahead(&self, now: Time) -> impl Iterator<Item = &P> {
        let latest = now + self.delay;
        self.packets.iter().filter(move |(time, _)| *time > latest).map(|(_, packet)| packet)
    }
}
