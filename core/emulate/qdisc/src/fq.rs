//! The scheduler of Linux `fq`.
use crate::store::Store;
use crate::turns::Turns;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// While no flow has packets, up to this many use a common FIFO. Source: `sch_fq`, Linux 6.7.
const FAST_PACKETS: usize = 8;

/// Parameters of [`Fq`]. Defaults are those of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqParams {
    /// Limit in packets, over all flows; default 10000.
    pub limit_packets: u64,
    /// Limit in packets per flow; default 100.
    pub flow_limit: u64,
    /// Number of flow queues; default 1024, as in Linux for packets without a local socket.
    pub flows: u32,
    /// Quantum in bytes; default 3028, two full packets.
    pub quantum: Bytes,
    /// Quantum of a flow seen for the first time; default 15140, ten full packets.
    pub initial_quantum: Bytes,
    /// After a pause longer than this a flow returns with a full quantum; default 40 ms.
    pub refill_delay: Duration,
}

struct Flow<P> {
    store: Store<P>,
    /// When the scheduler last found it empty.
    idle_since: Time,
}

/// Fair queueing as in Linux 6.12 without pacing: packets here carry neither a departure time nor
/// the pacing rate of a socket, like packets that Linux forwards. They have no priorities either,
/// so the three bands of Linux are missing.
///
/// A flow that has packets after a pause is new. New flows go before the old ones while their
/// credit lasts; they keep the credit from before the pause. A new flow that runs empty always goes
/// behind the old ones. When the buffer is full, the arrival is dropped. While no flow has packets,
/// the first eight go through a common FIFO, which is served before the flows. (Linux forgets a
/// flow after a few idle seconds and then gives it its initial quantum again.)
pub struct Fq<P> {
    params: FqParams,
    salt: u64,
    flows: Vec<Flow<P>>,
    turns: Turns,
    /// Packets of all flows, without the common FIFO.
    backlog: Backlog,
    fast: Store<P>,
}

impl<P: Packet> Fq<P> {
    /// Creates empty queues. `seed` determines which flows share one.
    pub fn new(params: FqParams, seed: u64) -> Self {
        let flow = |_| Flow { store: Store::new(), idle_since: Time::ZERO };
        let mut turns = Turns::new(params.flows as usize, params.quantum);
        let initial = i64::try_from(params.initial_quantum.get()).unwrap_or(i64::MAX);
        (0..params.flows as usize).for_each(|index| turns.set_deficit(index, initial));
        Fq {
            params,
            salt: Rng::stream(seed, "fq").next_u64(),
            flows: (0..params.flows).map(flow).collect(),
            turns,
            backlog: Backlog::default(),
            fast: Store::new(),
        }
    }

    /// Informs the scheduler that a flow has packets.
    fn wake(&mut self, index: usize, now: Time) {
        let pause = now.saturating_since(self.flows[index].idle_since);
        if self.turns.arrived(index) && pause > self.params.refill_delay {
            let credit = self.turns.deficit(index).max(self.turns.quantum());
            self.turns.set_deficit(index, credit);
        }
    }
}

impl<P: Packet> Qdisc<P> for Fq<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        if self.backlog.packets >= self.params.limit_packets {
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        if self.backlog.packets == 0 && self.fast.len() < FAST_PACKETS {
            return self.fast.push(packet, now);
        }
        let index = (packet.flow_hash(self.salt) % self.flows.len() as u64) as usize;
        if self.flows[index].store.len() as u64 >= self.params.flow_limit {
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        self.wake(index, now);
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        self.flows[index].store.push(packet, now);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        if let Some(stored) = self.fast.pop() {
            return Some(stored.leave(now));
        }
        loop {
            let index = self.turns.current()?;
            if let Some(stored) = self.flows[index].store.pop() {
                let len = stored.packet.len();
                self.turns.sent(index, len);
                self.backlog.packets -= 1;
                self.backlog.bytes -= len;
                return Some(stored.leave(now));
            }
            if self.turns.ran_empty(true) {
                self.flows[index].idle_since = now;
            }
        }
    }
    fn backlog(&self) -> Backlog {
        let fast = self.fast.backlog();
        Backlog { bytes: self.backlog.bytes + fast.bytes, packets: self.backlog.packets + fast.packets }
    }
}
