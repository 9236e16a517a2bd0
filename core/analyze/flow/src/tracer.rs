//! The two ways to follow a whole capture: packet by packet, or in batches of each flow.
use crate::follower::Follower;
use crate::{Flows, Sink, Times};
use fathom_capture::Packet;

/// What a [`Tracer`] keeps at most, so that a hostile file cannot take all memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Flows of one packet. The oldest beyond are forgotten and counted: a flood of SYNs is a number, not a million flows.
    pub lone_flows: usize,
    /// Flows. The packets of those that begin beyond are counted only.
    pub flows: usize,
    /// What waits for an ACK, in all flows: segments, holes, timestamps, SACKed ranges, repairs. Beyond, a flow that adds to it forgets its
    /// oldest.
    pub waiting: usize,
    /// Starts the hash of the flow table: a number that nobody can know, so that no file can be made to have all flows in one place.
    pub hash_seed: u64,
}

impl Default for Bounds {
    /// 16,384 lone flows (50 MB); half a million flows (1.7 GB, if there are so many); 4 million waiting (300 MB at most).
    fn default() -> Self {
        Bounds { lone_flows: 1 << 14, flows: 1 << 19, waiting: 1 << 22, hash_seed: 0 }
    }
}

/// Follows all flows of a capture in one pass, and reports to a [`Sink`] in the order of packets.
#[derive(Debug)]
pub struct Tracer<S>(Follower<S>);

impl<S: Sink> Tracer<S> {
    /// A tracer with the default bounds that reports to `sink`.
    pub fn new(sink: S) -> Self {
        Tracer::bounded(sink, Bounds::default())
    }
    /// A tracer that reports to `sink`.
    pub fn bounded(sink: S, bounds: Bounds) -> Self {
        Tracer(Follower::new(sink, bounds))
    }
    /// A second pass over a capture: follows the flows that the first has kept, by the numbers that it gave them, and no others.
    pub fn second_pass(sink: S, bounds: Bounds, flows: &Flows) -> Self {
        Tracer(Follower::second_pass(sink, bounds, flows))
    }
    /// The sink that it reports to.
    pub const fn sink(&self) -> &S {
        self.0.sink()
    }
    /// The sink, to be changed: taken empty, say, for a report so far.
    pub const fn sink_mut(&mut self) -> &mut S {
        self.0.sink_mut()
    }
    /// Flows that are kept.
    pub const fn flows(&self) -> usize {
        self.0.flows()
    }
    /// What waits for an ACK, in all flows: segments, holes, timestamps, SACKed ranges, repairs.
    pub const fn waiting(&self) -> usize {
        self.0.waiting()
    }
    /// The next packet of the capture.
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.0.note_time(times);
        self.0.packet(times, packet);
    }
    /// The capture is at its end.
    pub fn finish(self) -> (Flows, S) {
        self.0.finish()
    }
}

/// Follows all flows of a capture in one pass, and reports to a [`Sink`] in the order of packets of each flow, but not among flows.
///
/// Packets wait for others of their flow: where flows are many, the state of a flow is in the caches for all of them then, and not
/// for the first alone (ADR 12).
#[derive(Debug)]
pub struct BatchedTracer<S>(Follower<S>);

impl<S: Sink> BatchedTracer<S> {
    /// A tracer that reports to `sink`.
    pub fn bounded(sink: S, bounds: Bounds) -> Self {
        BatchedTracer(Follower::new(sink, bounds))
    }
    /// Flows that are kept.
    pub const fn flows(&self) -> usize {
        self.0.flows()
    }
    /// What waits for an ACK, in all flows: segments, holes, timestamps, SACKed ranges, repairs.
    pub const fn waiting(&self) -> usize {
        self.0.waiting()
    }
    /// The next packet of the capture.
    #[inline]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.0.note_time(times);
        self.0.enqueue(times, packet);
    }
    /// The capture is at its end.
    pub fn finish(self) -> (Flows, S) {
        self.0.finish()
    }
}
