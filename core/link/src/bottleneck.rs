//! Queue, then serialiser, then impairment, then delay line: four parts, three counters.
use crate::delay::DelayLine;
use crate::impairment::{Impairment, ImpairmentParams};
use crate::serializer::Serializer;
use fathom_qdisc::{
    AnyQdisc, Backlog, DropReason, Ecn, End, MarkReason, Packet, PureAck, Qdisc, Sink, Spec, Stats,
};
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

/// One direction of a link with the queue before it.
#[derive(Clone, PartialEq, Debug)]
pub struct BottleneckParams {
    /// Of the wire; `None` takes no time.
    pub rate: Option<Rate>,
    /// Propagation, after the serialiser.
    pub delay: Duration,
    /// The queue before the serialiser.
    pub queue: Spec,
    /// Added to [`Packet::len`] in everything the queue and the serialiser count, such as 14 for an Ethernet header.
    pub overhead: Bytes,
    /// What else happens on the way.
    pub impairment: ImpairmentParams,
}

/// What happened to a packet inside a bottleneck.
#[derive(Debug)]
pub enum Event<'a, P> {
    /// It left the queue for the serialiser.
    Dequeued {
        /// The packet.
        packet: &'a P,
        /// How long it was in the queue.
        sojourn: Duration,
        /// What is left in the queue.
        backlog: Backlog,
    },
    /// The queue marked it; it is dequeued next.
    Marked {
        /// The packet.
        packet: &'a P,
        /// Why.
        reason: MarkReason,
    },
    /// The queue dropped it.
    Dropped {
        /// The packet.
        packet: &'a P,
        /// Why.
        reason: DropReason,
        /// How long it was in the queue; zero if it never entered.
        sojourn: Duration,
    },
    /// The link lost it after it was sent.
    Lost {
        /// The packet.
        packet: &'a P,
    },
    /// The link made a second one of it.
    Duplicated {
        /// The packet.
        packet: &'a P,
    },
}

/// Is told of events at their own times, in the order of time.
pub trait Observer<P> {
    /// `event` happened at `now`.
    fn event(&mut self, event: Event<'_, P>, now: Time);
}

/// For a host that does not look.
impl<P> Observer<P> for () {
    fn event(&mut self, _: Event<'_, P>, _: Time) {}
}

/// A packet as the link charges it.
struct Framed<P> {
    packet: P,
    overhead: Bytes,
}

impl<P: Packet> Packet for Framed<P> {
    fn len(&self) -> Bytes {
        self.packet.len() + self.overhead
    }
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    fn set_ce(&mut self) {
        self.packet.set_ce();
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        self.packet.flow_hash(salt)
    }
    fn host_hash(&self, end: End, salt: u64) -> u64 {
        self.packet.host_hash(end, salt)
    }
    fn ip_len(&self) -> Bytes {
        self.packet.ip_len()
    }
    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.packet.set_dscp(dscp);
    }
    fn pure_ack(&self) -> Option<PureAck> {
        self.packet.pure_ack()
    }
}

/// Passes the queue's drops and marks to the observer.
struct Reporting<'a, O>(&'a mut O);

impl<P: Packet, O: Observer<P>> Sink<Framed<P>> for Reporting<'_, O> {
    fn dropped(&mut self, framed: Framed<P>, reason: DropReason, sojourn: Duration, now: Time) {
        self.0.event(Event::Dropped { packet: &framed.packet, reason, sojourn }, now);
    }
    fn marked(&mut self, framed: &Framed<P>, reason: MarkReason, now: Time) {
        self.0.event(Event::Marked { packet: &framed.packet, reason }, now);
    }
}

/// A queue and the link behind it, in one direction.
///
/// The serialiser takes the next packet when it is free, not earlier, and at that very time. Where a packet arrives at
/// the very time at which another is dequeued, the dequeue comes first.
pub struct Bottleneck<P> {
    overhead: Bytes,
    queue: AnyQdisc<Framed<P>>,
    serializer: Serializer,
    /// The packet on the serialiser, with the time of its last bit.
    sending: Option<(Time, Framed<P>)>,
    /// When a queue that shapes will give its next packet, if it gave none although it holds some.
    ready: Option<Time>,
    impairment: Impairment,
    delay: DelayLine<P>,
    /// For packets held back; a line of its own, since they leave out of order.
    detour: DelayLine<P>,
    in_flight: Backlog,
}

impl<P: Packet + Clone> Bottleneck<P> {
    /// An empty bottleneck; all its chance comes from `seed`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(params: &BottleneckParams, seed: u64) -> Self {
        let impairment = params.impairment;
        Bottleneck {
            overhead: params.overhead,
            queue: params.queue.build(seed),
            serializer: Serializer::new(params.rate),
            sending: None,
            ready: None,
            impairment: Impairment::new(impairment, Rng::stream(seed, "impairment")),
            delay: DelayLine::new(params.delay),
            detour: DelayLine::new(params.delay + impairment.reorder_delay),
            in_flight: Backlog::default(),
        }
    }

    /// `packet` arrives at the queue at `now`. Transmissions due by then are done before.
    pub fn arrive(&mut self, packet: P, now: Time, observer: &mut impl Observer<P>) {
        self.transmit(now, observer);
        let framed = Framed { packet, overhead: self.overhead };
        self.queue.enqueue(framed, now, &mut Reporting(observer));
        self.start(now, observer);
        // On a link without a rate the packet has left already.
        self.transmit(now, observer);
    }

    /// The first packet that comes out at or before `now`, with the time at which it does. Repeat until `None`.
    pub fn poll(&mut self, now: Time, observer: &mut impl Observer<P>) -> Option<(P, Time)> {
        self.transmit(now, observer);
        let (packet, time) = match (self.delay.next(), self.detour.next()) {
            (None, _) => self.detour.pop(now),
            (Some(straight), Some(late)) if late < straight => self.detour.pop(now),
            _ => self.delay.pop(now),
        }?;
        self.in_flight.packets -= 1;
        self.in_flight.bytes -= packet.len() + self.overhead;
        Some((packet, time))
    }

    /// Does all that is due at or before `now`, each at its own time; what comes out goes to `out`.
    pub fn advance(&mut self, now: Time, observer: &mut impl Observer<P>, out: &mut impl FnMut(P, Time)) {
        while let Some((packet, time)) = self.poll(now, observer) {
            out(packet, time);
        }
    }

    /// When `advance` next has something to do.
    pub fn next_event(&self) -> Option<Time> {
        let sent = self.sending.as_ref().map(|(end, _)| *end);
        [sent, self.ready, self.delay.next(), self.detour.next()].into_iter().flatten().min()
    }

    /// No packet comes out before this; `None` if none is inside.
    pub fn next_exit(&self) -> Option<Time> {
        let free = self.sending.as_ref().map(|(end, _)| *end).or(self.ready);
        let sent = free.map(|at| at + self.delay.delay());
        [sent, self.delay.next(), self.detour.next()].into_iter().flatten().min()
    }

    /// What is in the queue, and nowhere else.
    pub fn queued(&self) -> Backlog {
        self.queue.backlog()
    }
    /// What is on the serialiser.
    pub fn sending(&self) -> Bytes {
        self.sending.as_ref().map_or(Bytes::ZERO, |(_, framed)| framed.len())
    }
    /// What is on the delay line.
    pub fn in_flight(&self) -> Backlog {
        self.in_flight
    }
    /// The queue's counters.
    pub fn stats(&self) -> &Stats {
        self.queue.stats()
    }

    /// Finishes the transmissions due at or before `now`, and begins those for which a queue that shapes was waited for;
    /// each frees the serialiser for the next.
    fn transmit(&mut self, now: Time, observer: &mut impl Observer<P>) {
        loop {
            if let Some((end, framed)) = self.sending.take_if(|(end, _)| *end <= now) {
                self.start(end, observer);
                self.propagate(framed, end, observer);
            } else if let Some(at) = self.ready.take_if(|at| *at <= now) {
                self.start(at, observer);
            } else {
                return;
            }
        }
    }

    /// Puts the queue's next packet on the free serialiser at `now`.
    fn start(&mut self, now: Time, observer: &mut impl Observer<P>) {
        if self.sending.is_some() {
            return;
        }
        let taken = self.queue.dequeue(now, &mut Reporting(observer));
        self.ready = if taken.is_none() { self.queue.next_ready(now) } else { None };
        let Some((framed, sojourn)) = taken else { return };
        let backlog = self.queue.backlog();
        observer.event(Event::Dequeued { packet: &framed.packet, sojourn, backlog }, now);
        self.sending = Some((self.serializer.send(framed.len(), now), framed));
    }

    /// The packet's last bit left at `now`.
    fn propagate(&mut self, framed: Framed<P>, now: Time, observer: &mut impl Observer<P>) {
        let fate = self.impairment.draw();
        let packet = framed.packet;
        if fate.lost {
            observer.event(Event::Lost { packet: &packet }, now);
            return;
        }
        if fate.duplicated {
            observer.event(Event::Duplicated { packet: &packet }, now);
            self.launch(packet.clone(), fate.held_back, now);
        }
        self.launch(packet, fate.held_back, now);
    }

    fn launch(&mut self, packet: P, held_back: bool, now: Time) {
        self.in_flight.packets += 1;
        self.in_flight.bytes += packet.len() + self.overhead;
        let line = if held_back { &mut self.detour } else { &mut self.delay };
        line.push(packet, now);
    }
}
