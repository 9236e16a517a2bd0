//! The first fair queueing. Source: RFC 970, J. Nagle, "On Packet Switches With Infinite Storage" (1985).
use crate::store::Store;
use crate::{Backlog, DropReason, End, Packet, Qdisc, Sink};
use alloc::collections::{BTreeMap, VecDeque};
use fathom_units::{Duration, Rng, Time};

/// Parameters of [`Rfc970`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rfc970Params {
    /// Packets it holds in all; default 1000.
    pub limit_packets: u64,
    /// Time to live in this queue: what waited longer is dropped when its turn comes. None by default. (Today's time to
    /// live counts routers; that of 1985 counted seconds too.)
    pub ttl: Option<Duration>,
}

/// One queue for each source host, served in turn, a packet at a time.
///
/// A queue whose packet has expired drops it and keeps its turn. For lack of room the longest queue loses its newest
/// packet, which would have been sent last; of several the one whose turn comes last. As turns are counted in packets, a
/// host that sends large ones gets more of the link, which deficit round robin mends.
pub struct Rfc970<P> {
    params: Rfc970Params,
    salt: u64,
    /// By source host; none is empty.
    hosts: BTreeMap<u64, Store<P>>,
    turns: VecDeque<u64>,
    backlog: Backlog,
}

impl<P: Packet> Rfc970<P> {
    /// No queues yet. Hosts are told apart by a hash of 64 bits; `seed` is for that.
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
