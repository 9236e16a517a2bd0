//! Dequeue: selects the tin and the queue, and sends, marks or drops its packet.
use super::cobalt::Signal;
use super::shaper::Moment;
use super::{Place, State};
use crate::store::Stored;
use crate::{DropReason, Ecn, MarkReason, Packet, Sink};
use fathom_units::{Duration, Time};

/// The result of serving one queue.
enum Taken<P> {
    Sent(P, Duration),
    /// On ingress a drop is charged like a sent packet, and the next queue is served.
    Dropped,
    Empty,
}

impl<P: Packet> State<P> {
    pub(super) fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let mut is_first = true;
        while self.backlog.packets > 0 && self.shaper.ready_at() <= now {
            let tin = if self.shaper.shapes() { self.tin_by_clock(now) } else { self.tin_by_weight() };
            if let Some(sent) = self.serve(tin, &mut is_first, now, sink) {
                return Some(sent);
            }
        }
        None
    }

    /// The highest active tin within its rate, or else the one that returns to its rate soonest.
    fn tin_by_clock(&self, now: Time) -> usize {
        let now = Moment::at(now);
        let (mut best, mut soonest) = (0, None);
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            let next = tin.clock.next();
            if next <= now || soonest.is_none_or(|soonest| next <= soonest) {
                (best, soonest) = (number, Some(next));
            }
        }
        best
    }

    /// The next tin in weighted deficit round robin. The loop ends because there are packets.
    fn tin_by_weight(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.is_active() && tin.deficit >= 0 {
                return self.current;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Serves a tin. Returns `None` if a queue was found empty; then another tin may be next.
    fn serve(
        &mut self,
        tin: usize,
        is_first: &mut bool,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<(P, Duration)> {
        loop {
            let queue = self.tins[tin].turn(core::mem::take(is_first))?;
            if self.tins[tin].is_in_debt(queue) {
                self.tins[tin].requeue(queue);
                continue;
            }
            match self.take(Place { tin, queue }, now, sink) {
                Taken::Sent(packet, sojourn) => return Some((packet, sojourn)),
                Taken::Dropped => {}
                Taken::Empty => return None,
            }
        }
    }

    /// Takes a queue's next packet after the drops that are due. The last packet is always sent.
    fn take(&mut self, place: Place, now: Time, sink: &mut impl Sink<P>) -> Taken<P> {
        loop {
            let Some(stored) = self.pop(place) else {
                self.tins[place.tin].was_empty(place.queue, now);
                return Taken::Empty;
            };
            let (tin, is_ingress) = (&mut self.tins[place.tin], self.params.ingress);
            let signal = tin.judge(place.queue, &stored, is_ingress, now, &mut self.rng);
            if !signal.drop || tin.flows[place.queue].store.len() == 0 {
                let (packet, sojourn) = self.send(place, stored, signal, now, sink);
                return Taken::Sent(packet, sojourn);
            }
            let charged = self.drop_charged(place, stored, DropReason::Aqm, now, sink);
            if is_ingress {
                self.tins[place.tin].spend(place.queue, charged);
                return Taken::Dropped;
            }
        }
    }

    fn send(
        &mut self,
        place: Place,
        stored: Stored<P>,
        signal: Signal,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> (P, Duration) {
        let (sojourn, mut packet) = (stored.sojourn(now), stored.packet);
        if signal.mark && packet.ecn() != Ecn::NotEct {
            packet.set_ce();
            sink.marked(&packet, MarkReason::Aqm, now);
        }
        let charged = self.params.framing.charged(&packet);
        self.tins[place.tin].clock.charge(charged, now);
        self.shaper.charge_sent(charged);
        self.tins[place.tin].spend(place.queue, charged);
        (packet, sojourn)
    }
}
