//! FQ-CoDel, RFC 8290: one queue per flow, priority for sparse flows, CoDel on each queue.
use crate::codel::{Control, ControlParams, ControlState};
use crate::store::Store;
use crate::turns::Turns;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink, Variant};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Packets dropped per overflow, to search the fattest flow rarely. Source: RFC 8290 section 4.1.
const MAX_BATCH: u64 = 64;

/// Parameters of [`FqCodel`]. Defaults are those of Linux and of RFC 8290 section 5.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelParams {
    /// CoDel parameters of every flow; ECN is on by default.
    pub control: ControlParams,
    /// Number of flow queues; default 1024.
    pub flows: u32,
    /// Quantum in bytes; default 1514.
    pub quantum: Bytes,
    /// Limit in packets, over all flows; default 10240.
    pub limit_packets: u64,
    /// Limit in wire bytes, over all flows; default 32 MiB. (Linux limits memory, which is unknown
    /// here: 1.5 times the bytes of a full packet and many times those of a small one.)
    pub memory: Bytes,
}

struct Flow<P> {
    store: Store<P>,
    state: ControlState,
}

impl<P: Packet> Flow<P> {
    fn new() -> Self {
        Flow { store: Store::new(), state: ControlState::default() }
    }
}

/// Fair queueing with CoDel.
///
/// CoDel's test for "no more than one packet left" uses the flow's own backlog, as in RFC 8290. The
/// Linux variant uses that of all flows, so it may drop the last packet of a flow.
///
/// A new flow that runs empty moves to the end of the old flows only if there are any, as in Linux:
/// the move keeps a sparse flow from starving old flows.
pub struct FqCodel<P> {
    params: FqCodelParams,
    salt: u64,
    flows: Vec<Flow<P>>,
    turns: Turns,
    backlog: Backlog,
    max_packet: Bytes,
}

impl<P: Packet> FqCodel<P> {
    /// Creates empty queues. `seed` determines which flows share one.
    pub fn new(params: FqCodelParams, seed: u64) -> Self {
        FqCodel {
            params,
            salt: Rng::stream(seed, "fq_codel").next_u64(),
            flows: (0..params.flows).map(|_| Flow::new()).collect(),
            turns: Turns::new(params.flows as usize, params.quantum),
            backlog: Backlog::default(),
            max_packet: Bytes::ZERO,
        }
    }

    fn is_over_limit(&self) -> bool {
        self.backlog.packets > self.params.limit_packets || self.backlog.bytes > self.params.memory
    }

    /// Drops half of the bytes of the flow with the most bytes, at most one batch, from its head.
    fn drop_batch(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let Some(flow) = self.flows.iter_mut().rev().max_by_key(|flow| flow.store.bytes()) else { return };
        let enough = flow.store.bytes().get() / 2;
        let (mut packets, mut bytes) = (0, Bytes::ZERO);
        while packets < MAX_BATCH && (packets == 0 || bytes.get() < enough) {
            let Some(stored) = flow.store.pop() else { break };
            packets += 1;
            bytes += stored.packet.len();
            stored.drop_into(DropReason::Overlimit, now, sink);
        }
        flow.state.add_drops(packets);
        self.backlog.packets -= packets;
        self.backlog.bytes -= bytes;
    }

    /// Runs CoDel on flow `index` and updates the totals for its drops.
    #[inline]
    fn dequeue_flow(&mut self, index: usize, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let flow = &mut self.flows[index];
        let (packets, bytes) = (flow.store.len(), flow.store.bytes());
        let (params, state, store) = (&self.params.control, &mut flow.state, &mut flow.store);
        let other_backlog = match params.variant {
            Variant::Rfc => Bytes::ZERO,
            Variant::Linux => self.backlog.bytes - bytes,
        };
        let max_packet = self.max_packet;
        let taken = Control { params, state, store, max_packet, other_backlog }.dequeue(now, sink);
        self.backlog.packets -= (packets - flow.store.len()) as u64;
        self.backlog.bytes -= bytes - flow.store.bytes();
        taken
    }
}

impl<P: Packet> Qdisc<P> for FqCodel<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let len = packet.len();
        self.max_packet = self.max_packet.max(len);
        let (hash, flows) = (packet.flow_hash(self.salt), self.flows.len() as u64);
        // The mask gives the same result without a division for common queue counts.
        let index = (if flows.is_power_of_two() { hash & (flows - 1) } else { hash % flows }) as usize;
        self.flows[index].store.push(packet, now);
        if self.turns.arrived(index) {
            self.turns.set_deficit(index, self.turns.quantum());
        }
        self.backlog.packets += 1;
        self.backlog.bytes += len;
        while self.is_over_limit() {
            self.drop_batch(now, sink);
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        if self.backlog.packets == 0 {
            // Shortcut for the loop below: all flows are empty, and a flow that returns is new.
            while let Some(index) = self.turns.clear() {
                self.flows[index].state.ran_empty();
            }
            return None;
        }
        loop {
            let index = self.turns.current()?;
            if let Some((packet, sojourn)) = self.dequeue_flow(index, now, sink) {
                self.turns.sent(index, packet.len());
                return Some((packet, sojourn));
            }
            self.turns.ran_empty(false);
        }
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
