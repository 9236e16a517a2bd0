//! A packet, parameters and a host for tests.
use fathom_link::{Bottleneck, BottleneckParams, Event, ImpairmentParams, Observer, TransmitterParams};
use fathom_qdisc::{Ecn, Packet};
use fathom_units::{Bytes, Duration, Rate, Time};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TestPacket {
    pub(crate) id: u64,
    pub(crate) len: u64,
    pub(crate) ttl: u8,
}

impl Packet for TestPacket {
    fn len(&self) -> Bytes {
        Bytes(self.len)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {
        panic!("not capable");
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        (self.id % 5) ^ salt
    }
}

pub(crate) fn packet(id: u64, len: u64) -> TestPacket {
    TestPacket { id, len, ttl: 64 }
}

/// A link without overhead and impairments.
pub(crate) fn link(rate: Option<&str>, delay: &str, queue: &str) -> BottleneckParams {
    BottleneckParams {
        transmitter: TransmitterParams::Fixed(rate.map(|rate| rate.parse::<Rate>().unwrap())),
        delay: delay.parse().unwrap(),
        queue: queue.parse().unwrap(),
        overhead: Bytes::ZERO,
        impairment: ImpairmentParams::default(),
    }
}

pub(crate) fn at(text: &str) -> Time {
    Time::ZERO + text.parse::<Duration>().unwrap()
}

/// Records the events.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Log(pub(crate) Vec<(Time, String)>);

/// An event as text: `dequeued 1 after 0ns leaving 2`.
pub(crate) fn words(event: &Event<'_, TestPacket>) -> String {
    match event {
        Event::Dequeued { packet, sojourn, backlog } => {
            format!("dequeued {} after {sojourn} leaving {}", packet.id, backlog.packets)
        }
        Event::Marked { packet, .. } => format!("marked {}", packet.id),
        Event::Dropped { packet, reason, .. } => format!("dropped {} {reason:?}", packet.id),
        Event::Lost { packet } => format!("lost {}", packet.id),
        Event::Duplicated { packet } => format!("duplicated {}", packet.id),
    }
}

impl Log {
    pub(crate) fn count(&self, word: &str) -> usize {
        self.0.iter().filter(|(_, text)| text.starts_with(word)).count()
    }
}

impl Observer<TestPacket> for Log {
    fn event(&mut self, event: Event<'_, TestPacket>, now: Time) {
        assert!(self.0.last().is_none_or(|(last, _)| *last <= now), "{event:?} out of order");
        self.0.push((now, words(&event)));
    }
}

/// Numbers and times of all packets that leave by `now`.
pub(crate) fn advance(bottleneck: &mut Bottleneck<TestPacket>, now: Time, log: &mut Log) -> Vec<(u64, Time)> {
    let mut out = Vec::new();
    bottleneck.advance(now, log, &mut |packet, time| out.push((packet.id, time)));
    out
}
