//! One tin: its queues and their scheduler.
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

/// Distinguishes pairs of hosts that have the same sum. Any large odd number works.
const PAIR_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Deficits are counted in this fraction of a byte, so that hosts get equal shares with any number
/// of flows. (Linux rounds to bytes, randomly up or down.)
const FRACTIONS: u64 = 1 << 16;

/// A queue's state in the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// In no list.
    Idle,
    /// New, with part of its first turn left.
    Sparse,
    /// Empty after its first turn. It waits with the old queues and becomes bulk on an arrival.
    SparseWaiting,
    Bulk,
    /// Empty, in the list of queues whose AQM state decays.
    Decaying,
}

pub(super) struct Flow<P> {
    pub(super) store: Store<P>,
    pub(super) cobalt: Cobalt,
    /// What it may still send in this turn, in [`FRACTIONS`] of a byte.
    deficit: i64,
    /// Places of its source and destination in the host tables, if the isolation mode counts them.
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
    /// Bytes that it may still send in its turn; used without a shaper.
    pub(super) deficit: i64,
    pub(super) weight: i64,
    pub(super) packets: u64,
    cobalt: CobaltParams,
    quantum: u64,
    tags: Tags,
    /// Source and destination hosts, if the isolation mode counts them.
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
    /// Applies the parameters for a new rate.
    pub(super) fn set(&mut self, params: &TinParams) {
        self.clock.set_pace(Pace::of(params.rate));
        self.cobalt = params.cobalt();
        self.quantum = params.quantum.get();
    }

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
    /// Another flow took the queue over or shares it: its hosts count from now on.
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

    /// Changes the state of a queue and updates the counts that depend on it.
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

    /// The bulk flows of its source or destination host, whichever has more; at least 1.
    fn load(&self, place: usize) -> u64 {
        let counted = self.hosts.iter().zip(self.flows[place].hosts);
        let counts = counted.filter_map(|(hosts, host)| Some(hosts.as_ref()?.bulk_flows(host)));
        u64::from(counts.max().unwrap_or(1).max(1))
    }

    /// Called after a packet was added to a queue.
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

    /// True if a queue holds packets, or may hold some.
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The next queue to serve. The first turn of a dequeue goes to a decaying queue.
    pub(super) fn turn(&self, is_first: bool) -> Option<usize> {
        let decaying = self.rings.first(List::Decaying);
        let first = decaying.filter(|_| is_first);
        let next = first.or_else(|| self.rings.first(List::New)).or_else(|| self.rounds.first());
        next.or(decaying)
    }

    /// A queue's credit per round: its share of the quantum that the flows of a host divide.
    fn credit(&self, place: usize) -> u64 {
        self.quantum * FRACTIONS / self.load(place)
    }
    pub(super) fn is_in_debt(&self, place: usize) -> bool {
        self.flows[place].deficit <= 0
    }
    /// Charges a queue for `charged` bytes that it sent or lost.
    pub(super) fn spend(&mut self, place: usize, charged: u64) {
        self.flows[place].deficit -= (charged * FRACTIONS) as i64;
        self.deficit -= charged as i64;
    }

    /// The current queue has no credit left: it waits until it is out of debt.
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

    /// The queue whose turn it is was empty.
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

    /// COBALT's decision on a dequeued packet.
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
    pub(super) fn overflowed(&mut self, place: usize, now: Time) {
        self.flows[place].cobalt.overflowed(self.cobalt.target, now);
    }
}
