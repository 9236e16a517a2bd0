//! A shaper at the user's edge: a queue discipline that gives its packets away at a rate, as CAKE does.
use crate::packet::BoxedPacket;
use fathom_qdisc::{AnyQdisc, DropReason, MarkReason, Packet as _, Qdisc, Sink, Spec};
use fathom_units::{Bytes, Duration, Rate, Time};

/// Header that an Ethernet interface counts with each packet.
const ETHERNET_HEADER: Bytes = Bytes(14);

/// What a shaper is set to.
#[derive(Clone, PartialEq, Debug)]
pub struct ShaperConfig {
    /// Its rate.
    pub rate: Rate,
    /// Bytes of each packet beyond IP that count in its rate.
    pub overhead: Bytes,
    /// Its queue.
    pub queue: Spec,
}

/// Counters of a shaper since it was made. Bytes are those that an Ethernet interface counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShaperStats {
    /// Bytes that left it.
    pub sent_bytes: u64,
    /// Packets that left it.
    pub sent_packets: u64,
    /// Packets that it dropped.
    pub dropped_packets: u64,
    /// Packets that it marked.
    pub marked_packets: u64,
    /// Packets that had to wait.
    pub delayed_packets: u64,
    /// Bytes in its queue.
    pub backlog_bytes: u64,
}

/// A shaper of one direction.
pub(crate) struct Shaper {
    rate: Rate,
    overhead: Bytes,
    queue: AnyQdisc<BoxedPacket>,
    /// When the next packet may leave.
    free_at: Time,
    stats: ShaperStats,
}

/// Counts what the queue does to packets.
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
    /// When a packet leaves next; [`Time::MAX`] if there is none.
    pub(crate) fn next(&self) -> Time {
        if self.queue.backlog().packets > 0 { self.free_at } else { Time::MAX }
    }
    /// The packet that leaves at `now`, if one does.
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
