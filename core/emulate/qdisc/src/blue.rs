//! BLUE, Feng, Kandlur, Saha and Shin 1999 (CSE-TR-387-99).
use crate::store::Store;
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
use fathom_units::{Duration, Ratio, Rng, Time};

/// Parameters of [`Blue`]. The report gives several sets; the defaults are those with d1 = 0.02.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlueParams {
    /// Limit in packets; default 1000.
    pub limit_packets: u64,
    /// Added to the probability when a packet finds no room (d1); default 0.02.
    pub increment: Ratio,
    /// Subtracted from the probability when the link finds nothing to send (d2); default 0.002. It
    /// must be much smaller than `increment`: an idle link can mean too many signals or too little
    /// traffic, while a loss always means too few signals.
    pub decrement: Ratio,
    /// Minimum time between two changes of the probability; default 100 ms. It should be about one
    /// RTT, so that a change has taken effect before the next.
    pub freeze: Duration,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

/// Drops or marks with a probability that rises with overflows and falls when the link is idle.
pub struct Blue<P> {
    params: BlueParams,
    probability: f64,
    last_change: Option<Time>,
    rng: Rng,
    store: Store<P>,
}

impl<P: Packet> Blue<P> {
    /// Creates an empty queue. `seed` determines which packets are dropped or marked.
    pub fn new(params: BlueParams, seed: u64) -> Self {
        let rng = Rng::stream(seed, "blue");
        Blue { params, probability: 0.0, last_change: None, rng, store: Store::new() }
    }

    fn change(&mut self, by: f64, now: Time) {
        if self.last_change.is_none_or(|last| now - last > self.params.freeze) {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.last_change = Some(now);
        }
    }
}

impl<P: Packet> Qdisc<P> for Blue<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        if self.store.backlog().packets >= self.params.limit_packets {
            self.change(self.params.increment.0, now);
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        if self.rng.chance(self.probability) {
            if !self.params.ecn || packet.ecn() == Ecn::NotEct {
                return sink.dropped(packet, DropReason::Aqm, Duration::ZERO, now);
            }
            packet.set_ce();
            sink.marked(&packet, MarkReason::Aqm, now);
        }
        self.store.push(packet, now);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let Some(stored) = self.store.pop() else {
            self.change(-self.params.decrement.0, now);
            return None;
        };
        Some(stored.leave(now))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
