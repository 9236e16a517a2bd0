//! From the transmitter to the receiver: impairments, then propagation.
use crate::delay::DelayLine;
use crate::event::{Event, Observer};
use crate::impairment::{Impairment, ImpairmentParams};
use fathom_qdisc::Packet;
use fathom_units::{Duration, Rng, Time};

/// Packets that have been sent and have not arrived.
pub(crate) struct Exit<P> {
    impairment: Impairment,
    delay: DelayLine<P>,
    /// Packets held back, on a separate line because they leave out of order.
    detour: DelayLine<P>,
    /// When the first packet arrives; [`Time::MAX`] if there is none.
    next: Time,
}

impl<P: Packet + Clone> Exit<P> {
    pub(crate) fn new(delay: Duration, impairment: ImpairmentParams, rng: Rng) -> Self {
        Exit {
            impairment: Impairment::new(impairment, rng),
            delay: DelayLine::new(delay),
            detour: DelayLine::new(delay + impairment.reorder_delay),
            next: Time::MAX,
        }
    }

    /// `packet` was sent at `now` and is received `lag` later, not before the previous packet.
    pub(crate) fn propagate(&mut self, packet: P, now: Time, lag: Duration, observer: &mut impl Observer<P>) {
        let drawn = self.impairment.draw();
        if drawn.lost {
            observer.event(Event::Lost { packet: &packet }, now);
            return;
        }
        if drawn.duplicated {
            observer.event(Event::Duplicated { packet: &packet }, now);
            self.launch(packet.clone(), drawn.held_back, now + lag);
        }
        self.launch(packet, drawn.held_back, now + lag);
    }

    /// The first packet that arrives by `now`, and its arrival time.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next > now {
            return None;
        }
        // At equal times the packet that was not held back comes first.
        let line = if self.delay.due() == self.next { &mut self.delay } else { &mut self.detour };
        let out = line.pop(now);
        self.next = self.delay.due().min(self.detour.due());
        out
    }

    /// When the first packet arrives; [`Time::MAX`] if none is in flight.
    #[inline]
    pub(crate) const fn next(&self) -> Time {
        self.next
    }
    pub(crate) const fn delay(&self) -> Duration {
        self.delay.delay()
    }
    /// Packets in flight at `now`.
    pub(crate) fn in_flight(&self, now: Time) -> impl Iterator<Item = &P> {
        self.delay.begun(now).chain(self.detour.begun(now))
    }
    /// Packets that were launched early and are not yet in flight at `now`.
    pub(crate) fn unsent(&self, now: Time) -> impl Iterator<Item = &P> {
        self.delay.ahead(now)
    }

    /// Puts `packet` on its way, sent at `now`, which may be in the future.
    pub(crate) fn launch(&mut self, packet: P, held_back: bool, now: Time) {
        let line = if held_back { &mut self.detour } else { &mut self.delay };
        line.push(packet, now);
        self.next = self.next.min(now + line.delay());
    }
}
