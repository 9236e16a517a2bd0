//! A shaper at the user's edge: a queue discipline that sends at a rate, as CAKE does.
use crate::packet::BoxedPacket;
use fathom_qdisc::{AnyQdisc, DropReason, MarkReason, Packet as _, Qdisc, Sink, Spec};
use fathom_units::{Bytes, Duration, Rate, Time};

/// Header that an Ethernet interface counts with each packet.
const ETHERNET_HEADER: Bytes = Bytes(14);

/// Settings of a shaper.
#[derive(Clone, PartialEq, Debug)]
pub struct ShaperConfig {
    /// Rate of the shaper.
    pub rate: Rate,
    /// Overhead per packet beyond IP that counts towards the rate.
    pub overhead: Bytes,
    /// The queue discipline.
    pub queue: Spec,
}

/// Counters since the shaper was created. Bytes are counted as by an Ethernet interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShaperStats {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// Packets that had to wait.
    pub delayed_packets: u64,
    /// Bytes queued.
    pub backlog_bytes: u64,
}

/// A shaper of one direction.
pub(crate) struct Shaper {
    rate: Rate,
    overhead: Bytes,
    queue: AnyQdisc<BoxedPacket>,
    /// When the next packet may be sent.
    free_at: Time,
    stats: ShaperStats,
}

/// Counts the drops and marks of the queue.
struct Counting<'a>(&'a mut ShaperStats);

impl Sink<BoxedPacket> for Counting<'_> {
    fn dropped(&mut self, _: BoxedPacket, _: DropReason, _: Duration, _: Time) {
        self.0.dropped_packets += 1;
    }
    fn marked(&mut self, _: &BoxedPacket, _: MarkReason, _: Time) {
        self.0.marked_packets += 1;
    }
}

impl Shaper {
    pub(crate) fn new(config: &ShaperConfig, seed: u64) -> Self {
        Shaper {
            rate: config.rate,
            overhead: config.overhead,
            queue: config.queue.build(seed),
            free_at: Time::ZERO,
            stats: ShaperStats::default(),
        }
    }
    pub(crate) const fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }
    pub(crate) fn enqueue(&mut self, packet: BoxedPacket, now: Time) {
        if self.free_at > now || self.queue.backlog().packets > 0 {
            self.stats.delayed_packets += 1;
        }
        self.queue.enqueue(packet, now, &mut Counting(&mut self.stats));
    }
    /// When the next packet is sent; [`Time::MAX`] if there is none.
    pub(crate) fn next(&self) -> Time {
        if self.queue.backlog().packets > 0 { self.free_at } else { Time::MAX }
    }
    /// The packet sent at `now`, if any.
    pub(crate) fn poll(&mut self, now: Time) -> Option<BoxedPacket> {
        if self.next() > now {
            return None;
        }
        let (packet, _) = self.queue.dequeue(now, &mut Counting(&mut self.stats))?;
        self.free_at = now + self.rate.serialization_time(packet.len() + self.overhead);
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += (packet.len() + ETHERNET_HEADER).get();
        Some(packet)
    }
    pub(crate) fn stats(&self) -> ShaperStats {
        let backlog = self.queue.backlog();
        let headers = ETHERNET_HEADER.get() * backlog.packets;
        ShaperStats { backlog_bytes: backlog.bytes.get() + headers, ..self.stats }
    }
}

/// Bytes of a packet as an Ethernet interface counts them.
pub(crate) fn interface_bytes(packet: &BoxedPacket) -> u64 {
    (packet.len() + ETHERNET_HEADER).get()
}
