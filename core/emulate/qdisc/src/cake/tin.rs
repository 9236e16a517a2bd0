//! One tin: its queues, and whose turn it is among them.
use super::cobalt::{Cobalt, CobaltParams, Signal};
use super::diffserv::TinParams;
use super::hash::{How, PLACES, Tags};
use super::hosts::Hosts;
use super::params::Isolation;
use super::ring::{List, Rings};
use super::rounds::Rounds;
use super::shaper::{Pace, TinClock};
use crate::store::{Store, Stored};
use crate::{Ecn, End, Packet, Variant};
use alloc::boxed::Box;
use fathom_units::{Rng, Time};

/// Keeps pairs of hosts apart where a plain sum would not; any large odd number does.
const PAIR_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Parts of a byte that deficits are counted in, so that hosts with any number of flows get the same. (Linux rounds to
/// bytes, up or down by chance.)
const FRACTIONS: u64 = 1 << 16;

/// Where a queue stands with the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// In no list.
    Idle,
    /// New, and with something left of its first turn.
    Sparse,
    /// Its first turn is used up and it is empty. It waits among the old ones, but is not one of them unless more comes.
    SparseWaiting,
    Bulk,
    /// Empty.
    Decaying,
}

pub(super) struct Flow<P> {
    pub(super) store: Store<P>,
    pub(super) cobalt: Cobalt,
    /// What it may still send in this turn, in [`FRACTIONS`] of a byte.
    deficit: i64,
    /// Its source's and its destination's place, where that matters.
    hosts: [u16; 2],
    standing: Standing,
}

impl<P: Packet> Flow<P> {
    fn new(variant: Variant) -> Self {
        Flow {
            store: Store::new(),
            cobalt: Cobalt::new(variant),
            deficit: 0,
            hosts: [0; 2],
            standing: Standing::Idle,
        }
    }
}

pub(super) struct Tin<P> {
    pub(super) flows: Box<[Flow<P>]>,
    pub(super) clock: TinClock,
    /// Bytes that it may still send in its turn, if nothing is shaped.
    pub(super) deficit: i64,
    pub(super) weight: i64,
    pub(super) packets: u64,
    cobalt: CobaltParams,
    quantum: u64,
    tags: Tags,
    /// Those flows come from and those they go to, where that matters.
    hosts: [Option<Box<Hosts>>; 2],
    rings: Rings,
    rounds: Rounds,
    sparse: u32,
    bulk: u32,
}

impl<P: Packet> Tin<P> {
    pub(super) fn new(params: &TinParams, isolation: Isolation, variant: Variant) -> Self {
        let queues = if isolation == Isolation::Blind { 1 } else { PLACES };
        Tin {
            flows: (0..queues).map(|_| Flow::new(variant)).collect(),
            clock: TinClock::new(Pace::of(params.rate)),
            deficit: 0,
            weight: params.weight as i64,
            packets: 0,
            cobalt: params.cobalt(),
            quantum: params.quantum.get(),
            tags: Tags::new(),
            hosts: isolation.by_host().map(|counts| counts.then(|| Box::new(Hosts::new()))),
            rings: Rings::new(),
            rounds: Rounds::default(),
            sparse: 0,
            bulk: 0,
        }
    }
    /// The rate has changed.
    pub(super) fn set(&mut self, params: &TinParams) {
        self.clock.set_pace(Pace::of(params.rate));
        self.cobalt = params.cobalt();
        self.quantum = params.quantum.get();
    }

    /// The queue for `packet`.
    pub(super) fn queue_of(&mut self, packet: &P, isolation: Isolation, salt: u64) -> usize {
        let host = |end| packet.host_hash(end, salt);
        let key = match isolation {
            Isolation::Blind => return 0,
            Isolation::Source => host(End::Source),
            Isolation::Destination => host(End::Destination),
            Isolation::Hosts => {
                host(End::Source).wrapping_mul(PAIR_FACTOR).wrapping_add(host(End::Destination))
            }
            _ => packet.flow_hash(salt),
        };
        let flows = &self.flows;
        let found = self.tags.find(key, |place| flows[place].standing != Standing::Idle);
        if found.how != How::Kept {
            self.assign_hosts(found.place, packet, salt);
        }
        found.place
    }
    /// A queue was taken by another flow, or is shared with one, whose hosts count from now on.
    fn assign_hosts(&mut self, place: usize, packet: &P, salt: u64) {
        let standing = self.flows[place].standing;
        self.stand(place, Standing::Idle);
        for (side, end) in [End::Source, End::Destination].into_iter().enumerate() {
            if let Some(hosts) = &mut self.hosts[side] {
                self.flows[place].hosts[side] = hosts.place(packet.host_hash(end, salt));
            }
        }
        self.stand(place, standing);
    }

    /// Changes the standing of a queue, and all that is counted by it.
    fn stand(&mut self, place: usize, standing: Standing) {
        let flow = &mut self.flows[place];
        let before = core::mem::replace(&mut flow.standing, standing);
        let is_sparse = |it| matches!(it, Standing::Sparse | Standing::SparseWaiting);
        self.sparse = self.sparse + u32::from(is_sparse(standing)) - u32::from(is_sparse(before));
        if (before == Standing::Bulk) == (standing == Standing::Bulk) {
            return;
        }
        let begins = standing == Standing::Bulk;
        self.bulk = if begins { self.bulk + 1 } else { self.bulk - 1 };
        for (hosts, host) in self.hosts.iter_mut().zip(flow.hosts) {
            match hosts {
                Some(hosts) if begins => hosts.add_bulk_flow(host),
                Some(hosts) => hosts.remove_bulk_flow(host),
                None => {}
            }
        }
    }

    /// Bulk flows of that host of a queue which has more of them; at least 1.
    fn load(&self, place: usize) -> u64 {
        let counted = self.hosts.iter().zip(self.flows[place].hosts);
        let counts = counted.filter_map(|(hosts, host)| Some(hosts.as_ref()?.bulk_flows(host)));
        u64::from(counts.max().unwrap_or(1).max(1))
    }

    /// A packet was put into a queue.
    pub(super) fn filled(&mut self, place: usize) {
        match self.flows[place].standing {
            Standing::Idle | Standing::Decaying => {
                self.rings.move_to(List::New, place);
                self.stand(place, Standing::Sparse);
                self.flows[place].deficit = self.credit(place) as i64;
            }
            Standing::SparseWaiting => self.stand(place, Standing::Bulk),
            Standing::Sparse | Standing::Bulk => {}
        }
    }

    /// Something is, or may be, queued.
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue whose turn it is. The first of a dequeue is one of those that decay, so that they do.
    pub(super) fn turn(&self, is_first: bool) -> Option<usize> {
        let decaying = self.rings.first(List::Decaying);
        let first = decaying.filter(|_| is_first);
        let next = first.or_else(|| self.rings.first(List::New)).or_else(|| self.rounds.first());
        next.or(decaying)
    }

    /// What a queue gets in each round: its part of the quantum that the flows of a host share.
    fn credit(&self, place: usize) -> u64 {
        self.quantum * FRACTIONS / self.load(place)
    }
    pub(super) fn is_in_debt(&self, place: usize) -> bool {
        self.flows[place].deficit <= 0
    }
    /// A queue has sent, or lost, `charged` bytes.
    pub(super) fn spend(&mut self, place: usize, charged: u64) {
        self.flows[place].deficit -= (charged * FRACTIONS) as i64;
        self.deficit -= charged as i64;
    }

    /// The queue whose turn it is owes something: it waits for as many rounds as it takes to pay.
    pub(super) fn requeue(&mut self, place: usize) {
        let is_sparse = self.flows[place].standing == Standing::Sparse;
        if is_sparse {
            let is_empty = self.flows[place].store.len() == 0;
            self.stand(place, if is_empty { Standing::SparseWaiting } else { Standing::Bulk });
        }
        let credit = self.credit(place);
        let flow = &mut self.flows[place];
        let rounds = flow.deficit.unsigned_abs() / credit + 1;
        flow.deficit += (credit * rounds) as i64;
        if is_sparse {
            self.rings.take_out(place);
            self.rounds.join(place, rounds);
        } else {
            self.rounds.delay_first(rounds);
        }
    }

    /// The turn of a queue came, and it was empty.
    pub(super) fn was_empty(&mut self, place: usize, now: Time) {
        let flow = &mut self.flows[place];
        if matches!(flow.standing, Standing::SparseWaiting | Standing::Bulk) {
            self.rounds.take_first();
        }
        flow.cobalt.was_empty(&self.cobalt, now);
        if flow.cobalt.is_at_rest(now) {
            self.rings.take_out(place);
            self.stand(place, Standing::Idle);
        } else {
            self.rings.move_to(List::Decaying, place);
            self.stand(place, Standing::Decaying);
        }
    }

    /// COBALT's word on a packet that was taken off a queue.
    pub(super) fn judge(
        &mut self,
        place: usize,
        stored: &Stored<P>,
        is_ingress: bool,
        now: Time,
        rng: &mut Rng,
    ) -> Signal {
        let acceptable = self.cobalt.acceptable(if is_ingress { self.bulk } else { 0 });
        let above = stored.sojourn(now) > acceptable;
        let markable = stored.packet.ecn() != Ecn::NotEct;
        self.flows[place].cobalt.judge(self.cobalt.interval, above, markable, now, rng)
    }
    /// A packet of a queue was dropped for lack of room.
    pub(super) fn overflowed(&mut self, place: usize, now: Time) {
        self.flows[place].cobalt.overflowed(self.cobalt.target, now);
    }
}
