//! The packets between the cumulative ACK and the newest packet sent, and their states.
use alloc::collections::VecDeque;
use core::ops::Range;
use fathom_units::{Duration, Time};

/// A packet that is not yet cumulatively ACKed. Only 32 bytes, since there can be many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) seq: u64,
    /// Time of the last transmission.
    pub(super) at: Time,
    pub(super) stamp: Stamp,
    len: u16,
    pub(super) state: State,
    /// It was sent more than once.
    pub(super) retransmitted: bool,
}

/// State for rate estimation as of the last transmission; 32 bits and microseconds as in Linux.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// Packets delivered before it was sent, modulo 2^31. Highest bit: application-limited.
    delivered: u32,
    since_delivered: u32,
    since_first: u32,
}

const APP_LIMITED: u32 = 1 << 31;

impl Stamp {
    /// Times `since_delivered`, the newest delivery, and `since_first`, the start of the flight.
    pub(super) fn new(
        delivered: u64,
        since_delivered: Duration,
        since_first: Duration,
        app_limited: bool,
    ) -> Self {
        let flag = if app_limited { APP_LIMITED } else { 0 };
        let delivered = delivered as u32 & !APP_LIMITED | flag;
        Stamp { delivered, since_delivered: micros(since_delivered), since_first: micros(since_first) }
    }
    pub(super) const fn is_app_limited(self) -> bool {
        self.delivered & APP_LIMITED != 0
    }
    /// Packets delivered before it was sent, given the current `total`.
    pub(super) const fn delivered(self, total: u64) -> u64 {
        total - ((total as u32).wrapping_sub(self.delivered) & !APP_LIMITED) as u64
    }
    pub(super) const fn since_delivered(self) -> Duration {
        Duration::from_micros(self.since_delivered as u64)
    }
    pub(super) const fn since_first(self) -> Duration {
        Duration::from_micros(self.since_first as u64)
    }
}

/// Microseconds, at most 71 minutes.
fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_nanos() / 1_000).unwrap_or(u32::MAX)
}

impl Sent {
    pub(super) const fn new(seq: u64, len: u16, at: Time, stamp: Stamp) -> Self {
        Sent { seq, at, stamp, len, state: State::Flying, retransmitted: false }
    }
    pub(super) const fn len(&self) -> u32 {
        self.len as u32
    }
    pub(super) const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.state, State::Flying | State::Resent)
    }
}

/// The presumed state of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// In flight.
    Flying,
    /// Selectively acknowledged.
    Sacked,
    /// Lost and not retransmitted yet.
    Lost,
    /// Lost, with a retransmission in flight.
    Resent,
}

/// The packets, by number.
#[derive(Clone, Default, Debug)]
pub(super) struct Flight {
    packets: VecDeque<Sent>,
    /// Number of the first packet.
    first: u64,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// No lost packet has a lower number.
    lost_from: u64,
    /// Packets ever marked lost.
    pub(super) losses: u32,
}

impl Flight {
    /// Packets not cumulatively ACKed.
    pub(super) fn out(&self) -> u32 {
        self.packets.len() as u32
    }
    /// Packets in the network (the pipe of RFC 6675).
    pub(super) fn in_network(&self) -> u32 {
        // `lost` excludes lost packets that were retransmitted.
        self.out() - self.sacked - self.lost
    }
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }
    /// Retransmissions in flight.
    pub(super) fn resent(&self) -> u32 {
        self.resent
    }
    /// Lost packets that were not retransmitted.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }
    /// Number of the first packet not cumulatively ACKed: the count of those that are.
    pub(super) fn first(&self) -> u64 {
        self.first
    }
    /// Number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }
    pub(super) fn head(&self) -> Option<&Sent> {
        self.packets.front()
    }
    /// True if a retransmitted packet is not yet cumulatively ACKed.
    pub(super) fn any_retransmitted(&self) -> bool {
        self.resent > 0 || self.head().is_some_and(|head| head.retransmitted)
    }
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        self.packets.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }
    pub(super) fn push(&mut self, sent: Sent) {
        self.packets.push_back(sent);
    }
    /// Removes the first packet if it ends by `ack`.
    pub(super) fn pop(&mut self, ack: u64) -> Option<Sent> {
        let sent = *self.packets.front()?;
        if sent.end() > ack {
            return None;
        }
        self.packets.pop_front();
        self.first += 1;
        self.uncount(sent.state);
        Some(sent)
    }
    pub(super) fn set(&mut self, number: u64, state: State) {
        let Some(index) = number.checked_sub(self.first) else { return };
        let Some(sent) = self.packets.get_mut(index as usize) else { return };
        let before = core::mem::replace(&mut sent.state, state);
        self.uncount(before);
        match state {
            State::Flying => {}
            State::Resent => self.resent += 1,
            State::Sacked => self.sacked += 1,
            State::Lost => {
                self.lost += 1;
                self.losses = self.losses.wrapping_add(1);
                self.lost_from = self.lost_from.min(number);
            }
        }
    }
    fn uncount(&mut self, state: State) {
        match state {
            State::Flying => {}
            State::Resent => self.resent -= 1,
            State::Sacked => self.sacked -= 1,
            State::Lost => self.lost -= 1,
        }
    }
    /// Records a retransmission. A packet that was not lost stays in flight: a tail loss probe.
    pub(super) fn resend(&mut self, number: u64, at: Time, stamp: Stamp) -> Option<Sent> {
        if self.get(number)?.state == State::Lost {
            self.set(number, State::Resent);
        }
        let sent = self.packets.get_mut((number - self.first) as usize)?;
        (sent.retransmitted, sent.at, sent.stamp) = (true, at, stamp);
        Some(*sent)
    }
    /// The lost packet with the lowest number.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            self.lost_from = self.next();
            return None;
        }
        let from = self.lost_from.max(self.first);
        let index = (from - self.first) as usize;
        let found = self.packets.range(index..).position(|sent| sent.state == State::Lost)?;
        self.lost_from = from + found as u64;
        Some(self.lost_from)
    }
    /// Numbers of the packets that are completely within `start..end`.
    pub(super) fn numbers(&self, start: u64, end: u64) -> Range<u64> {
        let low = self.index_of(start);
        let high = low + self.packets.range(low..).take_while(|sent| sent.end() <= end).count();
        self.first + low as u64..self.first + high as u64
    }
    /// Index of the first packet that begins at byte `start` or later.
    fn index_of(&self, start: u64) -> usize {
        let Some(head) = self.packets.front() else { return 0 };
        // Most packets have equal sizes.
        let guess = (start.saturating_sub(head.seq) / u64::from(head.len.max(1))) as usize;
        if self.packets.get(guess).is_some_and(|sent| sent.seq == start) {
            return guess;
        }
        self.packets.partition_point(|sent| sent.seq < start)
    }
    /// After a timeout all packets are lost except SACKed and recent ones; the first always is.
    pub(super) fn lose_all(&mut self, is_recent: impl Fn(&Sent) -> bool) {
        for number in self.first..self.next() {
            let is_kept = |sent: &Sent| number != self.first && is_recent(sent);
            let Some(sent) = self.get(number) else { return };
            if sent.is_under_way() && !is_kept(sent) {
                self.set(number, State::Lost);
            }
        }
    }
    /// Returns lost packets that were not retransmitted to flight.
    pub(super) fn find_all(&mut self) {
        while let Some(number) = self.next_lost() {
            self.set(number, State::Flying);
        }
    }
}
