//! From the last bit that was sent to the far end: impairments, then propagation.
use crate::bottleneck::{Event, Observer};
use crate::delay::DelayLine;
use crate::impairment::{Impairment, ImpairmentParams};
use fathom_qdisc::{Backlog, Packet};
use fathom_units::{Bytes, Duration, Rng, Time};

/// Packets that have been sent and have not arrived.
pub(crate) struct Exit<P> {
    impairment: Impairment,
    delay: DelayLine<P>,
    /// For packets held back; a line of its own, since they leave out of order.
    detour: DelayLine<P>,
    /// When the first of them arrives, [`Time::MAX`] if there is none.
    next: Time,
    /// What a packet counts in `in_flight` besides its length.
    overhead: Bytes,
    in_flight: Backlog,
}

impl<P: Packet + Clone> Exit<P> {
    /// Of a link with `delay`; each packet counts `overhead` more than its length.
    pub(crate) fn new(delay: Duration, impairment: ImpairmentParams, overhead: Bytes, rng: Rng) -> Self {
        Exit {
            impairment: Impairment::new(impairment, rng),
            delay: DelayLine::new(delay),
            detour: DelayLine::new(delay + impairment.reorder_delay),
            next: Time::MAX,
            overhead,
            in_flight: Backlog::default(),
        }
    }

    /// `packet` was sent at `now` and is received `lag` later, not before the packet before it.
    pub(crate) fn propagate(&mut self, packet: P, now: Time, lag: Duration, observer: &mut impl Observer<P>) {
        let fate = self.impairment.draw();
        if fate.lost {
            observer.event(Event::Lost { packet: &packet }, now);
            return;
        }
        if fate.duplicated {
            observer.event(Event::Duplicated { packet: &packet }, now);
            self.launch(packet.clone(), fate.held_back, now + lag);
        }
        self.launch(packet, fate.held_back, now + lag);
    }

    /// The first packet that arrives at or before `now`, with the time at which it does.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next > now {
            return None;
        }
        // Of two at the same time the one that was not held back.
        let line = if self.delay.due() == self.next { &mut self.delay } else { &mut self.detour };
        let (packet, time) = line.pop(now)?;
        self.next = self.delay.due().min(self.detour.due());
        self.in_flight.packets -= 1;
        self.in_flight.bytes -= packet.len() + self.overhead;
        Some((packet, time))
    }

    /// When the first packet arrives; [`Time::MAX`] if none is under way.
    #[inline]
    pub(crate) const fn next(&self) -> Time {
        self.next
    }
    /// What every packet takes.
    pub(crate) const fn delay(&self) -> Duration {
        self.delay.delay()
    }
    /// What is under way.
    pub(crate) const fn in_flight(&self) -> Backlog {
        self.in_flight
    }

    fn launch(&mut self, packet: P, held_back: bool, now: Time) {
        self.in_flight.packets += 1;
        self.in_flight.bytes += packet.len() + self.overhead;
        let line = if held_back { &mut self.detour } else { &mut self.delay };
        line.push(packet, now);
        self.next = self.next.min(now + line.delay());
    }
}
