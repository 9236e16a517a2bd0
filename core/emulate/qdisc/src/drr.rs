//! Deficit round robin. Source: M. Shreedhar, G. Varghese, "Efficient Fair Queueing using Deficit
//! Round Robin" (SIGCOMM 1995).
use crate::store::Store;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Parameters of [`Drr`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrrParams {
    /// Limit in packets, over all flows; default 1000.
    pub limit_packets: u64,
    /// Number of flow queues; default 1024.
    pub flows: u32,
    /// Bytes added to a flow's allowance per round; default 1514. With less than a full packet, a
    /// flow may need several rounds per packet.
    pub quantum: Bytes,
}

struct Flow<P> {
    store: Store<P>,
    deficit: u64,
    /// True if the quantum of this round has been added to `deficit`.
    in_turn: bool,
}

/// Deficit round robin.
///
/// Linux's `drr` has classes and filters, and a flow starts with a full quantum. Here a hash
/// identifies the flow, which starts at 0. When the buffer is full, the flow with the most bytes
/// loses its newest packet, perhaps the arrival (the paper drops from the longest queue).
pub struct Drr<P> {
    params: DrrParams,
    salt: u64,
    flows: Vec<Flow<P>>,
    /// Flows with packets, in service order.
    active: VecDeque<usize>,
    backlog: Backlog,
}

impl<P: Packet> Drr<P> {
    /// Creates empty queues. `seed` determines which flows share one.
    pub fn new(params: DrrParams, seed: u64) -> Self {
        let flow = |_| Flow { store: Store::new(), deficit: 0, in_turn: false };
        Drr {
            params,
            salt: Rng::stream(seed, "drr").next_u64(),
            flows: (0..params.flows).map(flow).collect(),
            active: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    fn take_off(&mut self, len: Bytes) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= len;
    }

    /// Removes a flow without packets from the round, with its deficit.
    fn settle(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if flow.store.len() == 0 {
            (flow.deficit, flow.in_turn) = (0, false);
            self.active.retain(|active| *active != index);
        }
    }

    /// Drops the newest packet of the flow with the most bytes (the last of equals).
    fn drop_longest(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let bytes = |index: &&usize| self.flows[**index].store.bytes();
        let Some(index) = self.active.iter().max_by_key(bytes).copied() else { return };
        let store = &mut self.flows[index].store;
        if let Some(stored) = store.remove(store.len().saturating_sub(1)) {
            self.take_off(stored.packet.len());
            stored.drop_into(DropReason::Overlimit, now, sink);
        }
        self.settle(index);
    }
}

impl<P: Packet> Qdisc<P> for Drr<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let index = (packet.flow_hash(self.salt) % self.flows.len() as u64) as usize;
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        let store = &mut self.flows[index].store;
        store.push(packet, now);
        if store.len() == 1 {
            self.active.push_back(index);
        }
        if self.backlog.packets > self.params.limit_packets {
            self.drop_longest(now, sink);
        }
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        loop {
            let index = *self.active.front()?;
            let flow = &mut self.flows[index];
            if !flow.in_turn {
                flow.deficit += self.params.quantum.get();
                flow.in_turn = true;
            }
            let len = flow.store.head()?.packet.len();
            if len.get() <= flow.deficit {
                flow.deficit -= len.get();
                let stored = flow.store.pop()?;
                self.take_off(len);
                self.settle(index);
                return Some(stored.leave(now));
            }
            flow.in_turn = false;
            self.active.rotate_left(1);
        }
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
