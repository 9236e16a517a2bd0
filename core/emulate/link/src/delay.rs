//! Propagation: packets under way.
use alloc::collections::VecDeque;
use fathom_units::{Duration, Time};

/// A line on which every packet takes the same time, so that they leave in the order in which they entered.
///
/// It holds any number of packets: propagation is never charged to a buffer.
pub struct DelayLine<P> {
    delay: Duration,
    packets: VecDeque<(Time, P)>,
}

impl<P> DelayLine<P> {
    /// An empty line of `delay`.
    pub const fn new(delay: Duration) -> Self {
        DelayLine { delay, packets: VecDeque::new() }
    }
    /// What every packet takes.
    pub const fn delay(&self) -> Duration {
        self.delay
    }
    /// `packet` enters at `now`, which is not before the previous one's and may be ahead of the time.
    #[inline]
    pub fn push(&mut self, packet: P, now: Time) {
        self.packets.push_back((now + self.delay, packet));
    }
    /// When the first packet leaves.
    pub fn next(&self) -> Option<Time> {
        self.packets.front().map(|(time, _)| *time)
    }
    /// The same, but [`Time::MAX`] for an empty line.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.packets.front().map_or(Time::MAX, |(time, _)| *time)
    }
    /// The first packet, if it leaves at or before `now`, with the time at which it does.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next()? > now {
            return None;
        }
        self.packets.pop_front().map(|(time, packet)| (packet, time))
    }
    /// The packets that have entered by `now`.
    pub(crate) fn begun(&self, now: Time) -> impl Iterator<Item = &P> {
        let latest = now + self.delay;
        self.packets.iter().filter(move |(time, _)| *time <= latest).map(|(_, packet)| packet)
    }
    /// Those that enter later.
    pub(crate) fn ahead(&self, now: Time) -> impl Iterator<Item = &P> {
        let latest = now + self.delay;
        self.packets.iter().filter(move |(time, _)| *time > latest).map(|(_, packet)| packet)
    }
}
