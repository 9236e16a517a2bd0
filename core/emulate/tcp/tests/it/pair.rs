//! A real sender and receiver with a link between them, in virtual time.
use fathom_tcp::{
    Ack, AnyControl, Control, ControlConfig, ControlKind, Data, Receiver, ReceiverConfig, Sender,
    SenderConfig,
};
use fathom_units::{Duration, Ecn, Time};
use std::collections::VecDeque;

/// The link to the receiver; ACKs are only delayed.
pub(crate) struct Link {
    /// Time of one packet; zero for a link that never queues.
    pub(crate) service: Duration,
    /// Buffer size in packets; further packets are dropped.
    pub(crate) room: u64,
    /// A packet that finds more packets queued than this is marked.
    pub(crate) marks_from: u64,
    /// Round-trip propagation delay.
    pub(crate) rtt: Duration,
    /// Whether the packet with this number is lost.
    pub(crate) is_lost: Box<dyn FnMut(u64) -> bool>,
}

impl Link {
    pub(crate) fn new(service: Duration, rtt: Duration) -> Self {
        Link { service, room: u64::MAX, marks_from: u64::MAX, rtt, is_lost: Box::new(|_| false) }
    }
}

pub(crate) struct Pair {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now: Time,
    pub(crate) drops: u64,
    pub(crate) link: Link,
    free_at: Time,
    /// Departure time of each queued packet.
    leave_at: VecDeque<Time>,
    sent: u64,
    data: VecDeque<(Time, Data, bool)>,
    acks: VecDeque<(Time, Ack)>,
}

impl Pair {
    /// Starts an unlimited transfer. `granularity` is the kernel's tick.
    pub(crate) fn new(kind: ControlKind, granularity: Duration, link: Link) -> Self {
        let control = AnyControl::new(kind, &ControlConfig { granularity, ..ControlConfig::default() });
        let exact_ecn = control.wants_exact_ecn();
        let config = SenderConfig { granularity, ecn: exact_ecn, ..SenderConfig::default() };
        let mut sender = Sender::new(config, control, Time::ZERO);
        sender.write(1 << 50);
        Pair {
            sender,
            receiver: Receiver::new(ReceiverConfig { exact_ecn, ..ReceiverConfig::default() }),
            now: Time::ZERO,
            drops: 0,
            link,
            free_at: Time::ZERO,
            leave_at: VecDeque::new(),
            sent: 0,
            data: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }
    /// Current queueing delay of a packet.
    pub(crate) fn queueing(&self) -> Duration {
        self.free_at.saturating_since(self.now)
    }
    /// Queued packets, without the one being sent.
    fn waiting(&mut self) -> u64 {
        let now = self.now;
        while due(&mut self.leave_at, |at| *at <= now).is_some() {}
        self.leave_at.len().saturating_sub(1) as u64
    }
    fn queue(&mut self, service: Duration) {
        self.free_at = self.free_at.max(self.now) + service;
        self.leave_at.push_back(self.free_at);
    }
    /// A foreign packet takes a buffer place, if there is one, and `service` of the link.
    pub(crate) fn probe(&mut self, service: Duration) {
        if self.waiting() < self.link.room {
            self.queue(service);
        }
    }
    fn transmit(&mut self) {
        while let Some(data) = self.sender.poll_transmit(self.now) {
            self.sent += 1;
            let waiting = self.waiting();
            if (self.link.is_lost)(self.sent) || waiting >= self.link.room {
                self.drops += 1;
                continue;
            }
            self.queue(self.link.service);
            let is_marked = data.ecn != Ecn::NotEct && waiting > self.link.marks_from;
            self.data.push_back((self.free_at + self.link.rtt / 2, data, is_marked));
        }
    }
    fn reply(&mut self, ack: Option<Ack>) {
        self.acks.extend(ack.map(|ack| (self.now + self.link.rtt / 2, ack)));
    }
    fn next_event(&self) -> Option<Time> {
        let data = self.data.front().map(|front| front.0);
        let acks = self.acks.front().map(|front| front.0);
        [data, acks, self.sender.next_timer(), self.receiver.next_timer()].into_iter().flatten().min()
    }
    /// Runs until `until` inclusive.
    pub(crate) fn run(&mut self, until: Time) {
        self.transmit();
        while let Some(at) = self.next_event().filter(|at| *at <= until) {
            let at = self.now.max(at);
            self.now = at;
            while let Some((_, data, ce)) = due(&mut self.data, |front| front.0 <= at) {
                let ack = self.receiver.on_data(&data, ce, self.now);
                self.reply(ack);
            }
            let held = self.receiver.on_timer(self.now);
            self.reply(held);
            while let Some((_, ack)) = due(&mut self.acks, |front| front.0 <= at) {
                self.sender.on_ack(&ack, self.now);
                self.transmit();
            }
            self.sender.on_timer(self.now);
            self.transmit();
        }
        self.now = until;
    }
    /// Goodput in packets per second over the next `span`.
    pub(crate) fn goodput(&mut self, span: Duration) -> f64 {
        let before = self.receiver.delivered();
        self.run(self.now + span);
        (self.receiver.delivered() - before) as f64 / 1448.0 / span.as_secs_f64()
    }
}

/// Removes the first element of the queue if it `is_due`.
fn due<T>(queue: &mut VecDeque<T>, is_due: impl FnOnce(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(is_due) { queue.pop_front() } else { None }
}
