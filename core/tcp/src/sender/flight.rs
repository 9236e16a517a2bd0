//! The packets between the cumulative acknowledgement and the newest sent, and what is known of each.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::Time;

/// A packet that was sent and is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) seq: u64,
    pub(super) len: u32,
    pub(super) state: State,
    /// It was sent more than once.
    pub(super) retransmitted: bool,
    /// The application, not the window, limited sending when it left.
    pub(super) app_limited: bool,
    /// Last sent.
    pub(super) at: Time,
    /// Packets delivered before it was last sent, when that was, and when the flight it belongs to began.
    pub(super) delivered: u64,
    pub(super) delivered_at: Time,
    pub(super) first_sent: Time,
}

impl Sent {
    pub(super) const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }
}

/// Where a packet is thought to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Under way.
    Flying,
    /// Acknowledged selectively.
    Sacked,
    /// Lost, and not sent again yet.
    Lost,
    /// Lost, and its retransmission is under way.
    Resent,
}

/// The packets, by number.
#[derive(Clone, Default, Debug)]
pub(super) struct Flight {
    packets: VecDeque<Sent>,
    /// Number of the first of them.
    first: u64,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// No lost packet has a number below this.
    lost_from: u64,
}

impl Flight {
    /// Packets not acknowledged cumulatively.
    pub(super) fn out(&self) -> u32 {
        self.packets.len() as u32
    }
    /// Packets thought to be in the network (RFC 6675's pipe).
    pub(super) fn in_network(&self) -> u32 {
        // Lost ones were counted out, those sent again are counted in.
        self.out() - self.sacked - self.lost
    }
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }
    /// Retransmissions under way.
    pub(super) fn resent(&self) -> u32 {
        self.resent
    }
    /// Lost and not sent again.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }
    /// Number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        self.packets.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }
    /// Adds a new packet and gives its number.
    pub(super) fn push(&mut self, sent: Sent) -> u64 {
        self.packets.push_back(sent);
        self.next() - 1
    }
    /// Takes out the first packet if it ends at or before `ack`.
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
    /// Moves a packet to another state.
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
                self.lost_from = self.lost_from.min(number);
            }
        }
    }
    /// A packet is sent again.
    pub(super) fn resend(&mut self, number: u64, at: Time, change: impl FnOnce(&mut Sent)) {
        self.set(number, State::Resent);
        let Some(sent) =
            number.checked_sub(self.first).and_then(|index| self.packets.get_mut(index as usize))
        else {
            return;
        };
        sent.retransmitted = true;
        sent.at = at;
        change(sent);
    }
    fn uncount(&mut self, state: State) {
        match state {
            State::Flying => {}
            State::Resent => self.resent -= 1,
            State::Sacked => self.sacked -= 1,
            State::Lost => self.lost -= 1,
        }
    }
    /// The lost packet with the lowest number.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            self.lost_from = self.next();
            return None;
        }
        let from = self.lost_from.max(self.first);
        let index = (from - self.first) as usize;
        let found = self.packets.iter().skip(index).position(|sent| sent.state == State::Lost)?;
        self.lost_from = from + found as u64;
        Some(self.lost_from)
    }
    /// Numbers of the packets that lie wholly in the bytes from `start` to `end`.
    pub(super) fn numbers(&self, start: u64, end: u64) -> core::ops::Range<u64> {
        let low = self.packets.partition_point(|sent| sent.seq < start);
        let high = low + self.packets.iter().skip(low).take_while(|sent| sent.end() <= end).count();
        self.first + low as u64..self.first + high as u64
    }
    /// Everything that is not SACKed is lost (after a timeout).
    pub(super) fn lose_all(&mut self) {
        for number in self.first..self.next() {
            if self.get(number).is_some_and(|sent| sent.state != State::Sacked) {
                self.set(number, State::Lost);
            }
        }
    }
    /// What was taken for lost and not sent again is under way after all: numbers, and when each was sent.
    pub(super) fn find_all(&mut self) -> Vec<(u64, Time)> {
        let mut found = Vec::new();
        while let Some(number) = self.next_lost() {
            self.set(number, State::Flying);
            found.extend(self.get(number).map(|sent| (number, sent.at)));
        }
        found
    }
}
