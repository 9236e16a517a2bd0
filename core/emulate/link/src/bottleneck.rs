//! Queue, transmitter, impairment, delay line: four parts, three counters.
use crate::event::{Event, Observer};
use crate::exit::Exit;
use crate::impairment::ImpairmentParams;
use crate::transmitter::{Transmitter, TransmitterParams};
use crate::wifi::{Outcome, Station};
use alloc::boxed::Box;
use fathom_qdisc::{
    AnyQdisc, Backlog, DropReason, Ecn, End, MarkReason, Packet, PureAck, Qdisc, Sink, Spec, Stats,
};
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

/// One direction of a link, and the queue in front of it.
#[derive(Clone, PartialEq, Debug)]
pub struct BottleneckParams {
    /// What takes packets from the queue, and how fast.
    pub transmitter: TransmitterParams,
    /// Propagation delay after the transmitter.
    pub delay: Duration,
    /// The queue in front of the transmitter.
    pub queue: Spec,
    /// Added to [`Packet::len`] in the queue and the transmitter, such as 14 for an Ethernet
    /// header. 802.11 adds its own headers to the packet instead.
    pub overhead: Bytes,
    /// Loss, duplication and reordering after the transmitter.
    pub impairment: ImpairmentParams,
}

impl BottleneckParams {
    /// [`TransmitterParams::nominal_rate`].
    pub fn nominal_rate(&self) -> Option<Rate> {
        self.transmitter.nominal_rate()
    }
}

/// A packet with the link-layer overhead that it is charged for.
pub(crate) struct Framed<P> {
    pub(crate) packet: P,
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

/// Forwards the queue's drops and marks to the observer.
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
/// The transmitter takes the next packet exactly when it becomes free. If a packet arrives at the
/// same time as another is dequeued, the dequeue comes first.
pub struct Bottleneck<P> {
    overhead: Bytes,
    queue: AnyQdisc<Framed<P>>,
    sender: Sender<P>,
    /// The packet on the transmitter, and when its last bit is sent.
    sending: Option<(Time, Framed<P>)>,
    /// When to ask the queue next: the transmitter is free or accepts packets again, or a shaping
    /// queue is ready. With an empty queue this is no event, since only the queue's internal state
    /// would change. [`Time::MAX`] if there is nothing to wait for.
    ready: Time,
    /// Packets enter the delay line when they are dequeued, see [`Bottleneck::send_off`].
    is_plain: bool,
    /// When the transmitter of such a link is free.
    free_at: Time,
    exit: Exit<P>,
}

/// What takes packets from the queue.
enum Sender<P> {
    One(Transmitter),
    Several(Box<Station<P>>),
}

impl<P: Packet + Clone> Bottleneck<P> {
    /// Creates an empty bottleneck. `seed` is for all random numbers. An 802.11 bottleneck works
    /// only within a [`Line`](crate::Line), which has the medium.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(params: &BottleneckParams, seed: u64) -> Self {
        let sender = match (Transmitter::new(&params.transmitter, seed), &params.transmitter) {
            (None, TransmitterParams::Wifi(wifi)) => {
                Sender::Several(Box::new(Station::new(wifi.clone(), Rng::stream(seed, "wifi"))))
            }
            (transmitter, _) => Sender::One(transmitter.unwrap_or(Transmitter::IDEAL)),
        };
        let rng = Rng::stream(seed, "impairment");
        let is_steady = matches!(sender, Sender::One(Transmitter::Fixed(_) | Transmitter::Boost(_)));
        Bottleneck {
            overhead: params.overhead,
            queue: params.queue.build(seed),
            sender,
            sending: None,
            ready: Time::MAX,
            is_plain: is_steady && params.impairment.is_none(),
            free_at: Time::ZERO,
            exit: Exit::new(params.delay, params.impairment, rng),
        }
    }

    /// `packet` arrives at the queue at `now`. Transmissions that are due by then come first.
    pub fn arrive(&mut self, packet: P, now: Time, observer: &mut impl Observer<P>) {
        self.transmit(now, observer);
        self.enqueue(packet, now, observer);
        self.start_if_free(now, observer);
    }
    /// Like [`Self::arrive`]; false if the packet queued behind others and no due time has changed.
    #[inline]
    pub(crate) fn line_up(&mut self, packet: P, now: Time, observer: &mut impl Observer<P>) -> bool {
        let is_behind = self.is_plain && self.ready > now && self.queue.backlog().packets > 0;
        if is_behind && self.free_at == self.ready {
            self.enqueue(packet, now, observer);
            return false;
        }
        self.arrive(packet, now, observer);
        true
    }
    fn start_if_free(&mut self, now: Time, observer: &mut impl Observer<P>) {
        if self.sending.is_none() && self.free_at <= now {
            self.start(now, observer);
            // On a link without a rate the packet has already been sent.
            self.transmit(now, observer);
        }
    }

    /// The first packet that leaves by `now`, and its time of departure. Repeat until `None`.
    pub fn poll(&mut self, now: Time, observer: &mut impl Observer<P>) -> Option<(P, Time)> {
        self.transmit(now, observer);
        self.exit.pop(now)
    }

    /// Handles everything due by `now`, each event at its own time. Packets that leave go to `out`.
    pub fn advance(&mut self, now: Time, observer: &mut impl Observer<P>, out: &mut impl FnMut(P, Time)) {
        while let Some((packet, time)) = self.poll(now, observer) {
            out(packet, time);
        }
    }

    /// When `advance` has something to do next.
    pub fn next_event(&self) -> Option<Time> {
        let due = self.due();
        (due != Time::MAX).then_some(due)
    }

    /// No packet leaves before this; `None` if there is none.
    pub fn next_exit(&self) -> Option<Time> {
        let sent = self.sent_at().unwrap_or_else(|| self.asked_at());
        let arrives = if sent == Time::MAX { sent } else { sent + self.exit.delay() };
        let next = arrives.min(self.exit.next());
        (next != Time::MAX).then_some(next)
    }

    /// The backlog of the queue alone.
    pub fn queued(&self) -> Backlog {
        self.queue.backlog()
    }
    /// Packets that the transmitter is sending at `now`; for 802.11, all that may be retransmitted.
    pub fn sending(&self, now: Time) -> Backlog {
        match (&self.sender, &self.sending) {
            (Sender::Several(station), _) => station.backlog(),
            (_, Some((_, framed))) => Backlog { bytes: framed.len(), packets: 1 },
            _ => self.framed(self.exit.unsent(now)),
        }
    }
    /// Packets on the delay line at `now`.
    pub fn in_flight(&self, now: Time) -> Backlog {
        self.framed(self.exit.in_flight(now))
    }
    fn framed<'a>(&self, packets: impl Iterator<Item = &'a P>) -> Backlog
    where
        P: 'a,
    {
        let add = |sum: Backlog, packet: &P| Backlog {
            bytes: sum.bytes + packet.len() + self.overhead,
            packets: sum.packets + 1,
        };
        packets.fold(Backlog::default(), add)
    }
    /// The queue's counters.
    pub fn stats(&self) -> &Stats {
        self.queue.stats()
    }

    /// Finishes the transmissions due by `now` and starts those that were waiting to start.
    #[inline]
    fn transmit(&mut self, now: Time, observer: &mut impl Observer<P>) {
        while self.sending.is_some() || self.ready <= now {
            if !self.transmit_next(now, observer) {
                return;
            }
        }
    }
    /// Handles the first event of [`Self::transmit`]; false if there is none.
    fn transmit_next(&mut self, now: Time, observer: &mut impl Observer<P>) -> bool {
        if let Some((end, framed)) = self.sending.take_if(|(end, _)| *end <= now) {
            // Before the transmitter is used again.
            let lag = self.lag();
            self.start(end, observer);
            self.exit.propagate(framed.packet, end, lag, observer);
        } else if self.ready <= now && self.ready < Time::MAX {
            let at = core::mem::replace(&mut self.ready, Time::MAX);
            self.start(at, observer);
        } else {
            return false;
        }
        true
    }

    /// Starts sending the queue's next packet at `now` if the transmitter can take it.
    fn start(&mut self, now: Time, observer: &mut impl Observer<P>) {
        if self.is_plain {
            return self.send_off(now, observer);
        }
        let Sender::One(transmitter) = &mut self.sender else { return };
        if self.sending.is_some() {
            return;
        }
        if transmitter.has_times() {
            let waiting = self.queue.backlog().packets > 0;
            self.ready = if waiting { transmitter.ready(now) } else { Time::MAX };
            if self.ready != now {
                return;
            }
        }
        self.begin(now, observer);
    }
    /// [`Self::start`] for a plain link: the arrival time is known now, so the packet enters the
    /// delay line without an event for its last bit.
    fn send_off(&mut self, now: Time, observer: &mut impl Observer<P>) {
        let Some(framed) = self.take(now, observer) else { return };
        let Sender::One(transmitter) = &mut self.sender else { return };
        let end = transmitter.send(framed.len(), now);
        (self.free_at, self.ready) = (end, end);
        self.exit.launch(framed.packet, false, end);
    }
    /// When to ask a queue that has packets; [`Time::MAX`] if it has none.
    #[inline]
    fn asked_at(&self) -> Time {
        if self.queue.backlog().packets > 0 { self.ready } else { Time::MAX }
    }
}

/// For a hop that decides when each direction sends, because they share a medium.
impl<P: Packet + Clone> Bottleneck<P> {
    pub(crate) fn enqueue(&mut self, packet: P, now: Time, observer: &mut impl Observer<P>) {
        let framed = Framed { packet, overhead: self.overhead };
        self.queue.enqueue(framed, now, &mut Reporting(observer));
    }
    /// Starts sending the queue's next packet on the free transmitter; false if the queue has none.
    pub(crate) fn begin(&mut self, now: Time, observer: &mut impl Observer<P>) -> bool {
        let taken = self.take(now, observer);
        let (Some(framed), Sender::One(transmitter)) = (taken, &mut self.sender) else { return false };
        self.sending = Some((transmitter.send(framed.len(), now), framed));
        true
    }
    /// Finishes sending the packet on the transmitter.
    pub(crate) fn finish(&mut self, observer: &mut impl Observer<P>) {
        let lag = self.lag();
        if let Some((end, framed)) = self.sending.take() {
            self.exit.propagate(framed.packet, end, lag, observer);
        }
    }
    /// Plans when the transmitter takes the next packet, not before `earliest`.
    pub(crate) fn plan(&mut self, now: Time, earliest: Time) {
        let waiting = self.sending.is_none() && self.queue.backlog().packets > 0;
        self.ready = match &mut self.sender {
            Sender::One(transmitter) if waiting => transmitter.ready(now).max(earliest),
            _ => Time::MAX,
        };
    }
    /// When the last bit of the packet on the transmitter is sent.
    pub(crate) fn sent_at(&self) -> Option<Time> {
        self.sending.as_ref().map(|(end, _)| *end)
    }
    /// When the packet on the transmitter releases the medium.
    pub(crate) fn clear(&self) -> Time {
        match (&self.sender, self.sent_at()) {
            (Sender::One(transmitter), Some(end)) => transmitter.clear(end),
            _ => Time::ZERO,
        }
    }
    /// When the transmitter takes the next packet, or when the queue has one ready.
    pub(crate) fn ready_at(&self) -> Option<Time> {
        (self.ready != Time::MAX).then_some(self.ready)
    }
    pub(crate) const fn exit(&mut self) -> &mut Exit<P> {
        &mut self.exit
    }
    /// When the next packet that has been sent leaves; [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn next_out(&self) -> Time {
        self.exit.next()
    }
    /// [`Bottleneck::next_event`], with [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        let sent = self.sending.as_ref().map_or(Time::MAX, |(end, _)| *end);
        sent.min(self.asked_at()).min(self.exit.next())
    }
    /// The propagation delay.
    pub(crate) const fn delay(&self) -> Duration {
        self.exit.delay()
    }

    /// Builds an aggregate after winning the medium. Returns its airtime; `None` without packets.
    pub(crate) fn aggregate(&mut self, now: Time, observer: &mut impl Observer<P>) -> Option<Duration> {
        self.station()?.begin();
        while self.station()?.has_room() {
            let Some(framed) = self.take(now, observer) else { break };
            self.station()?.take(framed);
        }
        self.station()?.airtime()
    }
    /// Ends the transmission of the aggregate at `now`; true if it was acknowledged.
    pub(crate) fn settle(&mut self, collided: bool, now: Time, observer: &mut impl Observer<P>) -> bool {
        let Sender::Several(station) = &mut self.sender else { return false };
        let acknowledged = station.finish(collided);
        while let Some(outcome) = station.release() {
            match outcome {
                Outcome::Received(framed) => {
                    self.exit.propagate(framed.packet, now, Duration::ZERO, observer);
                }
                Outcome::Lost(framed) => observer.event(Event::Lost { packet: &framed.packet }, now),
            }
        }
        acknowledged
    }
    /// True if there are packets to retransmit.
    pub(crate) fn must_repeat(&self) -> bool {
        matches!(&self.sender, Sender::Several(station) if station.is_waiting())
    }

    fn station(&mut self) -> Option<&mut Station<P>> {
        match &mut self.sender {
            Sender::Several(station) => Some(station),
            Sender::One(_) => None,
        }
    }
    fn lag(&self) -> Duration {
        match &self.sender {
            Sender::One(transmitter) => transmitter.lag(),
            Sender::Several(_) => Duration::ZERO,
        }
    }
    /// Dequeues the next packet; without one, sets when to ask again.
    fn take(&mut self, now: Time, observer: &mut impl Observer<P>) -> Option<Framed<P>> {
        let taken = self.queue.dequeue(now, &mut Reporting(observer));
        let Some((framed, sojourn)) = taken else {
            let waits = self.queue.backlog().packets > 0;
            self.ready = if waits { self.queue.next_ready(now).unwrap_or(Time::MAX) } else { Time::MAX };
            return None;
        };
        self.ready = Time::MAX;
        let backlog = self.queue.backlog();
        observer.event(Event::Dequeued { packet: &framed.packet, sojourn, backlog }, now);
        Some(framed)
    }
}
