//! Stochastic fairness queueing. Sources: P. McKenney, "Stochastic Fairness Queueing" (INFOCOM
//! 1990), `tc-sfq(8)`, and the behavior of Linux 6.12.
use crate::store::Store;
use crate::timer::Timer;
use crate::{Backlog, DropFrom, DropReason, Packet, Qdisc, Sink};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Linux counts allotments in units of this many bytes and rounds packets up.
const ALLOT_UNIT: u64 = 8;

/// Parameters of [`Sfq`]. Defaults are those of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SfqParams {
    /// Limit in packets, over all slots; default 127.
    pub limit_packets: u64,
    /// Limit in packets per slot; default 127.
    pub depth: u64,
    /// Number of hash values, a power of two; default 1024.
    pub divisor: u64,
    /// Slots in use at a time; packets of additional flows are dropped. Default 128.
    pub flows: u64,
    /// Quantum in bytes; default 1514.
    pub quantum: Bytes,
    /// Rehash interval, so that two flows do not share a slot for long; none by default.
    pub perturb: Option<Duration>,
    /// Which packet of a slot is dropped when the buffer is full; by default the newest.
    pub drop_from: DropFrom,
}

/// A hash value with packets.
struct Slot<P> {
    store: Store<P>,
    /// What it may still send in this turn, in units of [`ALLOT_UNIT`].
    allot: i64,
    /// When its length last changed, as a number of changes.
    changed: u64,
}

/// Stochastic fairness queueing, as in Linux without its optional RED.
///
/// When the buffer is full, the slot with the most packets loses one; of equal slots, the one that
/// changed last. If all slots have one packet, the slot whose turn it is loses it. (With a limit
/// below the number of slots, Linux has only `limit` slots.) On rehashing, queued packets move with
/// their flows, so that they stay in order. A packet that its new slot has no room for is dropped.
pub struct Sfq<P> {
    params: SfqParams,
    salt: u64,
    rng: Rng,
    perturb: Option<Timer>,
    /// Slots by hash value; none is empty.
    slots: BTreeMap<u64, Slot<P>>,
    turns: VecDeque<u64>,
    changes: u64,
    backlog: Backlog,
}

fn allot(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get().div_ceil(ALLOT_UNIT)).unwrap_or(i64::MAX)
}

impl<P: Packet> Sfq<P> {
    /// Creates a queue without slots. `seed` determines which flows share one.
    pub fn new(params: SfqParams, seed: u64) -> Self {
        let flows = params.flows.min(params.divisor);
        let limit_packets = params.limit_packets.min(params.depth.saturating_mul(flows));
        let mut rng = Rng::stream(seed, "sfq");
        Sfq {
            params: SfqParams { limit_packets, flows, ..params },
            salt: rng.next_u64(),
            rng,
            perturb: params.perturb.map(|period| Timer::new(Time::ZERO + period, period)),
            slots: BTreeMap::new(),
            turns: VecDeque::new(),
            changes: 0,
            backlog: Backlog::default(),
        }
    }

    /// Puts a packet into its slot; gives it back if it gets none.
    fn put(&mut self, packet: P, arrived: Time) -> Result<u64, P> {
        let hash = packet.flow_hash(self.salt) % self.params.divisor;
        let is_full = self.slots.len() as u64 >= self.params.flows;
        if is_full && !self.slots.contains_key(&hash) {
            return Err(packet);
        }
        self.changes += 1;
        let quantum = allot(self.params.quantum);
        let new = || Slot { store: Store::new(), allot: quantum, changed: 0 };
        let slot = self.slots.entry(hash).or_insert_with(new);
        slot.changed = self.changes;
        if slot.store.len() == 0 {
            self.turns.push_back(hash);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        slot.store.push(packet, arrived);
        Ok(hash)
    }

    /// Removes the packet at `place` from a slot, and the slot if it becomes empty.
    fn take(&mut self, hash: u64, place: usize) -> Option<crate::store::Stored<P>> {
        let slot = self.slots.get_mut(&hash)?;
        let stored = slot.store.remove(place)?;
        self.changes += 1;
        slot.changed = self.changes;
        self.backlog.packets -= 1;
        self.backlog.bytes -= stored.packet.len();
        if slot.store.len() == 0 {
            self.slots.remove(&hash);
            self.turns.retain(|other| *other != hash);
        }
        Some(stored)
    }

    fn len(&self, hash: u64) -> usize {
        self.slots.get(&hash).map_or(0, |slot| slot.store.len())
    }

    /// Drops one packet of a slot, from the configured end.
    fn drop_of(&mut self, hash: u64, now: Time, sink: &mut impl Sink<P>) {
        let place = match self.params.drop_from {
            DropFrom::Head => 0,
            DropFrom::Tail => self.len(hash).saturating_sub(1),
        };
        if let Some(stored) = self.take(hash, place) {
            stored.drop_into(DropReason::Overlimit, now, sink);
        }
    }

    fn make_room(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let length = |(_, slot): &(&u64, &Slot<P>)| (slot.store.len(), slot.changed);
        let longest = self.slots.iter().max_by_key(length).map(|(hash, slot)| (*hash, slot.store.len()));
        let victim = longest.filter(|(_, len)| *len > 1).map(|(hash, _)| hash);
        if let Some(hash) = victim.or_else(|| self.turns.front().copied()) {
            self.drop_of(hash, now, sink);
        }
    }

    /// Rehashes the queued packets if that has become due since the last call.
    fn catch_up(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let Some(timer) = &mut self.perturb else { return };
        if !timer.is_due(now) {
            return;
        }
        timer.skip(now);
        self.salt = self.rng.next_u64();
        let mut all = Vec::new();
        while let Some(stored) = self.turns.front().copied().and_then(|hash| self.take(hash, 0)) {
            all.push(stored);
        }
        for stored in all {
            let (arrived, depth) = (stored.arrived, self.params.depth);
            let refused = match self.put(stored.packet, arrived) {
                Err(packet) => Some(packet),
                Ok(hash) if self.len(hash) as u64 > depth => {
                    let last = self.len(hash) - 1;
                    self.take(hash, last).map(|over| over.packet)
                }
                Ok(_) => None,
            };
            if let Some(packet) = refused {
                sink.dropped(packet, DropReason::Overlimit, now - arrived, now);
            }
        }
    }
}

impl<P: Packet> Qdisc<P> for Sfq<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now, sink);
        match self.put(packet, now) {
            Err(packet) => sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now),
            Ok(hash) if self.len(hash) as u64 > self.params.depth => self.drop_of(hash, now, sink),
            Ok(_) if self.backlog.packets > self.params.limit_packets => self.make_room(now, sink),
            Ok(_) => {}
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now, sink);
        loop {
            let hash = *self.turns.front()?;
            let slot = self.slots.get_mut(&hash)?;
            if slot.allot <= 0 {
                slot.allot += allot(self.params.quantum);
                self.turns.rotate_left(1);
                continue;
            }
            slot.allot -= slot.store.head().map_or(0, |head| allot(head.packet.len()));
            let stored = self.take(hash, 0)?;
            return Some(stored.leave(now));
        }
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
