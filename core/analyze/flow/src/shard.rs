//! Divides the flows of a capture into shards, so that threads can follow them in parallel.
use crate::follower::{Follower, sockets};
use crate::{Bounds, Flows, Sink, Times};
use fathom_capture::{Packet, Transport};

/// Number of shards. It is the same on every machine, and bounds are divided among the shards, so
/// that results do not depend on the number of threads.
pub const SHARDS: usize = 2;

/// The shard of a packet: that of its flow, in both directions; the first one for packets that are
/// not TCP.
///
/// A capture can be crafted with all flows in one shard. It then takes the time of a single thread
/// and half of the bounds.
fn shard_of(packet: &Packet<'_>) -> usize {
    let Transport::Tcp(tcp) = &packet.transport else { return 0 };
    let addresses = packet.source.bits() ^ packet.destination.bits();
    let ports = u64::from(tcp.source_port ^ tcp.destination_port) << 32;
    let both = addresses as u64 ^ (addresses >> 64) as u64 ^ ports;
    // The highest bit of the product depends on all bits of the factors.
    (both.wrapping_mul(MIX) >> 63) as usize
}

/// Fractional part of the golden ratio, odd (Knuth, The Art of Computer Programming, section 6.4).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Follows the flows of one shard in batches. Must receive every packet of the capture.
#[derive(Debug)]
pub struct Shard<S> {
    number: usize,
    follower: Follower<S>,
}

/// Result of one shard.
#[derive(Debug)]
pub struct Followed<S> {
    flows: Flows,
    sink: S,
}

impl<S: Sink> Shard<S> {
    /// Creates all shards of a capture, which share `bounds`. Each has its own sink.
    pub fn all(bounds: Bounds, sink: impl Fn() -> S) -> [Shard<S>; SHARDS] {
        let bounds = Bounds {
            lone_flows: bounds.lone_flows / SHARDS,
            flows: bounds.flows / SHARDS,
            waiting: bounds.waiting / SHARDS,
            ..bounds
        };
        core::array::from_fn(|number| Shard { number, follower: Follower::new(sink(), bounds) })
    }
    /// Processes the next packet of the capture, of any shard.
    #[inline]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.follower.sink_mut().capture_started(times);
        if self.number == 0 {
            self.follower.note_time(times);
        }
        if shard_of(packet) == self.number {
            self.follower.enqueue(times, packet);
        }
    }
    /// Finishes at the end of the capture.
    pub fn finish(self) -> Followed<S> {
        let (flows, sink) = self.follower.finish();
        Followed { flows, sink }
    }
}

/// All shards of a capture, followed by a single thread.
#[derive(Debug)]
pub struct Shards<S> {
    shards: [Shard<S>; SHARDS],
    /// Shard of the last packet: the next one usually belongs to the same flow.
    last: usize,
}

impl<S: Sink> Shards<S> {
    /// Takes shards that have not processed any packet.
    pub const fn new(shards: [Shard<S>; SHARDS]) -> Shards<S> {
        Shards { shards, last: 0 }
    }
    /// Processes the next packet of the capture.
    #[inline(always)]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.shards[0].follower.note_time(times);
        let Transport::Tcp(tcp) = &packet.transport else {
            self.note_start(times);
            // A copy: an escaping value must be stored in memory (see
            // `fathom_capture::dissect_fast`).
            return self.shards[0].follower.non_tcp(times, &packet.clone());
        };
        let sockets = sockets(packet, tcp);
        let found = match self.shards[self.last].follower.last_flow(sockets) {
            None => {
                self.note_start(times);
                self.last = shard_of(packet);
                self.shards[self.last].follower.place(sockets, tcp.flags, times)
            }
            found => found,
        };
        if let Some(found) = found {
            self.shards[self.last].follower.enqueue_at(found, times, packet, tcp);
        }
    }
    #[inline]
    fn note_start(&mut self, times: Times) {
        self.shards.iter_mut().for_each(|shard| shard.follower.sink_mut().capture_started(times));
    }
    /// Finishes at the end of the capture.
    pub fn finish(self) -> [Followed<S>; SHARDS] {
        self.shards.map(Shard::finish)
    }
}

impl<S> Followed<S> {
    /// Combines the flows of all shards, and returns the sink of each.
    pub fn join([first, second]: [Followed<S>; SHARDS]) -> (Flows, [S; SHARDS]) {
        (first.flows.join(second.flows), [first.sink, second.sink])
    }
}
