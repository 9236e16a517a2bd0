//! Two ways to follow a whole capture: packet by packet, or in batches per flow.
use crate::follower::Follower;
use crate::{Flows, Sink, Times};
use fathom_capture::Packet;

/// Memory limits of a [`Tracer`], so that a malicious file cannot exhaust memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Maximum number of flows with one packet. Beyond it the oldest are forgotten and counted, so
    /// that a SYN flood does not create a million flows.
    pub lone_flows: usize,
    /// Maximum number of flows. Packets of further flows are only counted.
    pub flows: usize,
    /// Maximum number of entries for unacknowledged data in all flows: segments, holes, timestamps,
    /// SACK ranges, retransmissions. Beyond it a flow that adds entries forgets its oldest.
    pub waiting: usize,
    /// Seed of the flow table's hash; unpredictable, so that no file can cause collisions.
    pub hash_seed: u64,
}

impl Default for Bounds {
    /// 16,384 lone flows (50 MB), 500,000 flows (1.7 GB if all exist), 4 million entries for
    /// unacknowledged data (at most 300 MB).
    fn default() -> Self {
        Bounds { lone_flows: 1 << 14, flows: 1 << 19, waiting: 1 << 22, hash_seed: 0 }
    }
}

/// Follows all flows of a capture in one pass, and reports to a [`Sink`] in packet order.
#[derive(Debug)]
pub struct Tracer<S>(Follower<S>);

impl<S: Sink> Tracer<S> {
    /// Creates a tracer with the default limits.
    pub fn new(sink: S) -> Self {
        Tracer::bounded(sink, Bounds::default())
    }
    /// Creates a tracer with the given limits.
    pub fn bounded(sink: S, bounds: Bounds) -> Self {
        Tracer(Follower::new(sink, bounds))
    }
    /// Second pass: follows only the flows of the first pass, with the same identifiers.
    pub fn second_pass(sink: S, bounds: Bounds, flows: &Flows) -> Self {
        Tracer(Follower::second_pass(sink, bounds, flows))
    }
    /// The sink.
    pub const fn sink(&self) -> &S {
        self.0.sink()
    }
    /// The sink, for modification; for example, to take intermediate results.
    pub const fn sink_mut(&mut self) -> &mut S {
        self.0.sink_mut()
    }
    /// Number of flows.
    pub const fn flows(&self) -> usize {
        self.0.flows()
    }
    /// Entries for unacknowledged data: segments, holes, timestamps, SACK ranges, retransmissions.
    pub const fn waiting(&self) -> usize {
        self.0.waiting()
    }
    /// Processes the next packet of the capture.
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.0.note_time(times);
        self.0.packet(times, packet);
    }
    /// Finishes at the end of the capture.
    pub fn finish(self) -> (Flows, S) {
        self.0.finish()
    }
}

/// Follows all flows of a capture in one pass, and reports to a [`Sink`] in packet order within
/// each flow, but not across flows.
///
/// Packets are batched by flow. With many flows, the state of a flow is then loaded into the CPU
/// caches once per batch instead of once per packet (ADR 12).
#[derive(Debug)]
pub struct BatchedTracer<S>(Follower<S>);

impl<S: Sink> BatchedTracer<S> {
    /// Creates a tracer with the given limits.
    pub fn bounded(sink: S, bounds: Bounds) -> Self {
        BatchedTracer(Follower::new(sink, bounds))
    }
    /// Number of flows.
    pub const fn flows(&self) -> usize {
        self.0.flows()
    }
    /// Entries for unacknowledged data: segments, holes, timestamps, SACK ranges, retransmissions.
    pub const fn waiting(&self) -> usize {
        self.0.waiting()
    }
    /// Processes the next packet of the capture.
    #[inline]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.0.note_time(times);
        self.0.enqueue(times, packet);
    }
    /// Finishes at the end of the capture.
    pub fn finish(self) -> (Flows, S) {
        self.0.finish()
    }
}
