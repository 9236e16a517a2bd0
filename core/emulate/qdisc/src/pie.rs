//! PIE, RFC 8033: the controller, and the discipline with one queue.
mod control;
mod meter;

pub use control::PieControlParams;
pub(crate) use control::{PieControl, Verdict};

use crate::store::Store;
use crate::timer::Timer;
use crate::{Backlog, DropReason, MarkReason, Packet, Qdisc, SingleQueueParams, Sink};
use fathom_units::{Duration, Rng, Time};

/// Parameters of [`Pie`].
pub type PieParams = SingleQueueParams<PieControlParams>;

/// PIE with a single queue. It is always on, as in Linux. RFC 8033 section 5.3 allows turning it
/// off while the queue is short.
pub struct Pie<P> {
    params: PieParams,
    control: PieControl,
    timer: Timer,
    rng: Rng,
    store: Store<P>,
}

impl<P: Packet> Pie<P> {
    /// Creates an empty queue. `seed` determines which packets get a signal.
    pub fn new(params: PieParams, seed: u64) -> Self {
        Pie {
            params,
            control: PieControl::new(&params.control),
            timer: Timer::new(PieControl::first_update(&params.control), params.control.tupdate),
            rng: Rng::stream(seed, "pie"),
            store: Store::new(),
        }
    }

    /// Runs the updates due since the last call; nothing changed in between.
    fn catch_up(&mut self, now: Time) {
        while self.timer.is_due(now) {
            self.control.update(&self.params.control, self.store.bytes());
            if self.control.is_at_rest(&self.params.control) {
                self.timer.skip(now);
            }
        }
    }
}

impl<P: Packet> Qdisc<P> for Pie<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now);
        let backlog = self.store.backlog();
        if backlog.packets >= self.params.limit_packets {
            self.control.on_drop();
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        match self.control.verdict(&self.params.control, &packet, backlog.bytes, &mut self.rng) {
            Verdict::Drop => return sink.dropped(packet, DropReason::Aqm, Duration::ZERO, now),
            Verdict::Mark => {
                packet.set_ce();
                sink.marked(&packet, MarkReason::Aqm, now);
            }
            Verdict::Pass => {}
        }
        self.store.push(packet, now);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now);
        let stored = self.store.pop()?;
        let (len, sojourn) = (stored.packet.len(), stored.sojourn(now));
        self.control.on_dequeue(&self.params.control, len, sojourn, self.store.bytes(), now);
        Some((stored.packet, sojourn))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
