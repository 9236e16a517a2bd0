//! FQ-PIE: one queue per flow as in FQ-CoDel, with PIE on each. Source: Linux 6.12, and G.
//! Ramakrishnan et al., "FQ-PIE Queue Discipline in the Linux Kernel" (LCN 2019).
use crate::pie::{PieControl, Verdict};
use crate::store::Store;
use crate::timer::Timer;
use crate::turns::Turns;
use crate::{Backlog, DropReason, MarkReason, Packet, PieControlParams, Qdisc, Sink};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Parameters of [`FqPie`]. Defaults are those of Linux.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FqPieParams {
    /// PIE parameters of every flow; the rules are Linux's.
    pub control: PieControlParams,
    /// Limit in packets, over all flows; default 10240.
    pub limit_packets: u64,
    /// Number of flow queues; default 1024.
    pub flows: u32,
    /// Quantum in bytes; default 1514.
    pub quantum: Bytes,
}

struct Flow<P> {
    store: Store<P>,
    control: PieControl,
    /// True if updates of its controller would have an effect.
    is_awake: bool,
}

/// Fair queueing with PIE, as in Linux.
///
/// When the buffer is full, the arrival is dropped, even if another flow fills the queue. Linux's
/// `memory_limit` is missing: Linux only counts how often it is exceeded. With more than 2048 flow
/// queues, Linux spreads the controller updates over several timer ticks.
pub struct FqPie<P> {
    params: FqPieParams,
    salt: u64,
    rng: Rng,
    timer: Timer,
    flows: Vec<Flow<P>>,
    awake: Vec<usize>,
    turns: Turns,
    backlog: Backlog,
}

impl<P: Packet> FqPie<P> {
    /// Creates empty queues. `seed` determines which flows share one and the random signals.
    pub fn new(params: FqPieParams, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "fq_pie");
        let control = params.control;
        let flow = |_| Flow { store: Store::new(), control: PieControl::new(&control), is_awake: false };
        FqPie {
            params,
            salt: rng.next_u64(),
            rng,
            timer: Timer::new(PieControl::first_update(&control), control.tupdate),
            flows: (0..params.flows).map(flow).collect(),
            awake: Vec::new(),
            turns: Turns::new(params.flows as usize, params.quantum),
            backlog: Backlog::default(),
        }
    }

    /// Runs the updates due since the last call; nothing changed in between.
    fn catch_up(&mut self, now: Time) {
        while self.timer.is_due(now) {
            let (params, flows) = (&self.params.control, &mut self.flows);
            self.awake.retain(|index| {
                let flow = &mut flows[*index];
                flow.control.update(params, flow.store.bytes());
                flow.is_awake = !flow.control.is_at_rest(params);
                flow.is_awake
            });
            if self.awake.is_empty() {
                self.timer.skip(now);
            }
        }
    }

    fn touch(&mut self, index: usize) {
        if !self.flows[index].is_awake {
            self.flows[index].is_awake = true;
            self.awake.push(index);
        }
    }
}

impl<P: Packet> Qdisc<P> for FqPie<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now);
        let index = (packet.flow_hash(self.salt) % self.flows.len() as u64) as usize;
        self.touch(index);
        let flow = &mut self.flows[index];
        if self.backlog.packets >= self.params.limit_packets {
            flow.control.on_drop();
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        let bytes = flow.store.bytes();
        match flow.control.verdict(&self.params.control, &packet, bytes, &mut self.rng) {
            Verdict::Drop => return sink.dropped(packet, DropReason::Aqm, Duration::ZERO, now),
            Verdict::Mark => {
                packet.set_ce();
                sink.marked(&packet, MarkReason::Aqm, now);
            }
            Verdict::Pass => {}
        }
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        flow.store.push(packet, now);
        if self.turns.arrived(index) {
            self.turns.set_deficit(index, self.turns.quantum());
        }
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now);
        loop {
            let index = self.turns.current()?;
            let flow = &mut self.flows[index];
            if let Some(stored) = flow.store.pop() {
                let (len, sojourn) = (stored.packet.len(), stored.sojourn(now));
                flow.control.on_dequeue(&self.params.control, len, sojourn, flow.store.bytes(), now);
                self.touch(index);
                self.turns.sent(index, len);
                self.backlog.packets -= 1;
                self.backlog.bytes -= len;
                return Some((stored.packet, sojourn));
            }
            self.turns.ran_empty(false);
        }
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
