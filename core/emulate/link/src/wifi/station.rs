//! What one side has taken from its queue: a window of packets, some to be retransmitted.
use super::timing::{of_psdu, subframe};
use super::{AggregateLimits, WifiParams, exchange};
use crate::bottleneck::Framed;
use alloc::collections::VecDeque;
use fathom_qdisc::{Backlog, Packet};
use fathom_units::{Bytes, Duration, Rng};

/// The packets of one side between its queue and the receiver's reordering buffer.
pub(crate) struct Station<P> {
    params: WifiParams,
    /// In order. The receiver delivers in order too, so packets behind a missing one wait.
    window: VecDeque<Mpdu<P>>,
    /// Bytes in the current aggregate; zero without one.
    bytes: u64,
    packets: u8,
    is_full: bool,
    rng: Rng,
}

struct Mpdu<P> {
    framed: Framed<P>,
    attempts: u8,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// To be sent or retransmitted.
    Waiting,
    /// In the current aggregate.
    Sent,
    Received,
    GivenUp,
}

pub(crate) enum Outcome<P> {
    Received(Framed<P>),
    Lost(Framed<P>),
}

impl<P: Packet> Station<P> {
    pub(crate) const fn new(params: WifiParams, rng: Rng) -> Self {
        Station { params, window: VecDeque::new(), bytes: 0, packets: 0, is_full: false, rng }
    }
    /// All packets in the window.
    pub(crate) fn backlog(&self) -> Backlog {
        let bytes = self.window.iter().map(|mpdu| mpdu.framed.len()).sum();
        Backlog { bytes, packets: self.window.len() as u64 }
    }
    /// True if there are packets to send or retransmit.
    pub(crate) fn is_waiting(&self) -> bool {
        self.window.iter().any(|mpdu| mpdu.state == State::Waiting)
    }

    /// Starts an aggregate after winning the medium, with the packets already in the window.
    pub(crate) fn begin(&mut self) {
        (self.bytes, self.packets, self.is_full) = (0, 0, false);
        for at in 0..self.window.len() {
            if self.window[at].state == State::Waiting {
                self.add(at);
            }
        }
    }
    /// True if another packet may be dequeued.
    pub(crate) fn has_room(&self) -> bool {
        let window = usize::from(AggregateLimits::MAX_PACKETS);
        !self.is_full && self.packets < self.limit() && self.window.len() < window
    }
    /// Adds a packet from the queue. If it does not fit, it waits for the next aggregate.
    pub(crate) fn take(&mut self, framed: Framed<P>) {
        self.window.push_back(Mpdu { framed, attempts: 0, state: State::Waiting });
        self.add(self.window.len() - 1);
    }
    /// Airtime including the acknowledgment; `None` without packets to send.
    pub(crate) fn airtime(&self) -> Option<Duration> {
        let sent = self.window.iter().filter(|mpdu| mpdu.state == State::Sent);
        (self.packets > 0).then(|| exchange(sent.map(|mpdu| mpdu.framed.packet.len()), self.params.phy))
    }
    /// Ends the transmission; nothing is received if it `collided`. True if it was acknowledged.
    pub(crate) fn finish(&mut self, collided: bool) -> bool {
        let mut acknowledged = false;
        for mpdu in self.window.iter_mut().filter(|mpdu| mpdu.state == State::Sent) {
            mpdu.attempts += 1;
            let error = self.params.error.0;
            let failed = collided || (error > 0.0 && self.rng.chance(error));
            acknowledged |= !failed;
            mpdu.state = match failed {
                false => State::Received,
                true if mpdu.attempts >= WifiParams::MAX_ATTEMPTS => State::GivenUp,
                true => State::Waiting,
            };
        }
        acknowledged
    }
    /// The next packet whose outcome, and that of all before it, is known.
    pub(crate) fn release(&mut self) -> Option<Outcome<P>> {
        let settled = |mpdu: &Mpdu<P>| matches!(mpdu.state, State::Received | State::GivenUp);
        let mpdu = if settled(self.window.front()?) { self.window.pop_front()? } else { return None };
        Some(match mpdu.state {
            State::GivenUp => Outcome::Lost(mpdu.framed),
            _ => Outcome::Received(mpdu.framed),
        })
    }

    fn limit(&self) -> u8 {
        self.params.aggregate.packets.clamp(1, AggregateLimits::MAX_PACKETS)
    }
    /// Adds the packet at `at` to the aggregate if there is room.
    fn add(&mut self, at: usize) {
        let bytes = self.bytes + subframe(self.window[at].framed.packet.len());
        let limits = &self.params.aggregate;
        let fits = Bytes(bytes) <= limits.bytes && of_psdu(bytes, self.params.phy) <= limits.airtime;
        if self.packets > 0 && (!fits || self.is_full || self.packets >= self.limit()) {
            self.is_full = true;
            return;
        }
        self.window[at].state = State::Sent;
        (self.bytes, self.packets) = (bytes, self.packets + 1);
    }
}
