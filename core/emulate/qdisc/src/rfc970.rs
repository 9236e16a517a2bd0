//! Fair queueing of RFC 970, J. Nagle, "On Packet Switches With Infinite Storage" (1985).
use crate::store::Store;
use crate::{Backlog, DropReason, End, Packet, Qdisc, Sink};
use alloc::collections::{BTreeMap, VecDeque};
use fathom_units::{Duration, Rng, Time};

/// Parameters of [`Rfc970`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rfc970Params {
    /// Limit in packets, over all hosts; default 1000.
    pub limit_packets: u64,
    /// Time to live in the queue: an older packet is dropped when its turn comes. None by default.
    /// (Today's time to live only counts routers; in 1985 it also counted seconds.)
    pub ttl: Option<Duration>,
}

/// One queue per source host, served round robin, one packet per turn.
///
/// A queue whose packet has expired drops it and keeps its turn. When the buffer is full, the
/// longest queue loses its newest packet, which would have been sent last; of equal queues, the
/// last in service order. Turns are counted in packets, so a host that sends large packets gets
/// more of the link. Deficit round robin fixes that.
pub struct Rfc970<P> {
    params: Rfc970Params,
    salt: u64,
    /// Queues by source host; none is empty.
    hosts: BTreeMap<u64, Store<P>>,
    turns: VecDeque<u64>,
    backlog: Backlog,
}

impl<P: Packet> Rfc970<P> {
    /// Creates no queues yet. `seed` salts the 64-bit hash that distinguishes hosts.
    pub fn new(params: Rfc970Params, seed: u64) -> Self {
        Rfc970 {
            params,
            salt: Rng::stream(seed, "rfc970").next_u64(),
            hosts: BTreeMap::new(),
            turns: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    fn drop_longest(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let len = |host: &&u64| self.hosts.get(host).map_or(0, Store::len);
        let Some(host) = self.turns.iter().max_by_key(len).copied() else { return };
        let Some(store) = self.hosts.get_mut(&host) else { return };
        if let Some(stored) = store.remove(store.len().saturating_sub(1)) {
            self.backlog.packets -= 1;
            self.backlog.bytes -= stored.packet.len();
            stored.drop_into(DropReason::Overlimit, now, sink);
        }
        if store.len() == 0 {
            self.hosts.remove(&host);
            self.turns.retain(|other| *other != host);
        }
    }
}

impl<P: Packet> Qdisc<P> for Rfc970<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let host = packet.host_hash(End::Source, self.salt);
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        let store = self.hosts.entry(host).or_insert_with(Store::new);
        store.push(packet, now);
        if store.len() == 1 {
            self.turns.push_back(host);
        }
        if self.backlog.packets > self.params.limit_packets {
            self.drop_longest(now, sink);
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        loop {
            let host = *self.turns.front()?;
            let store = self.hosts.get_mut(&host)?;
            let stored = store.pop()?;
            let is_last = store.len() == 0;
            self.backlog.packets -= 1;
            self.backlog.bytes -= stored.packet.len();
            let sojourn = stored.sojourn(now);
            let expired = self.params.ttl.is_some_and(|ttl| sojourn > ttl);
            if is_last {
                self.hosts.remove(&host);
                self.turns.pop_front();
            } else if !expired {
                self.turns.rotate_left(1);
            }
            if !expired {
                return Some((stored.packet, sojourn));
            }
            stored.drop_into(DropReason::Expired, now, sink);
        }
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
