//! Assigns packets to flows: the flow table, and batches of packets.
use crate::batch::{Batch, Chain};
use crate::connection::Connection;
use crate::flag;
use crate::half_connection::Context;
use crate::header::{Header, Incoming, significant_options};
use crate::probe::Probes;
use crate::probe_totals::Socket;
use crate::summary::{FlowSummary, Flows, Totalled};
use crate::table::{Entry, Table, hash, is_same};
use crate::{Bounds, End, FlowId, Sink, Times};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::{iter, mem};
use fathom_capture::{Address, Packet, TcpHeader, Transport};

/// Number of a flow's entries forgotten per packet when there are too many; a packet adds fewer.
const FORGOTTEN_AT_ONCE: usize = 8;

/// Index of no flow.
const NOWHERE: u32 = u32::MAX;

/// Addresses of the last packet, its sender, and the index of its flow.
#[derive(Clone, Copy, Debug)]
struct LastPacket {
    place: u32,
    end: End,
    sockets: [Socket; 2],
}

/// Follows flows and reports to a sink. Used by [`crate::Tracer`], [`crate::BatchedTracer`] and
/// [`crate::Shards`]. Do not mix [`Follower::packet`] with batching: it does not process the batch
/// first.
#[derive(Debug)]
pub(crate) struct Follower<S> {
    sink: S,
    bounds: Bounds,
    table: Table,
    /// Same indices as `flows`.
    entries: Vec<Entry>,
    /// `None` if the flow was forgotten.
    flows: Vec<Option<Box<Connection>>>,
    /// Packets arrive in trains: the next one usually belongs to the same flow.
    last: LastPacket,
    vacant: Vec<u32>,
    /// Indices of flows that had one packet when they were added here, oldest first.
    lone: VecDeque<u32>,
    /// Second pass: frame numbers of the first packets, and the identifiers of their flows.
    known: Option<BTreeMap<u64, FlowId>>,
    /// Number of list entries that grow with unacknowledged data.
    waiting: usize,
    probes: Probes,
    totalled: Totalled,
    batch: Batch,
}

#[inline]
pub(crate) fn sockets(packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> [Socket; 2] {
    [(packet.source, tcp.source_port), (packet.destination, tcp.destination_port)]
}

impl<S: Sink> Follower<S> {
    pub(crate) fn new(sink: S, bounds: Bounds) -> Self {
        Follower {
            sink,
            bounds,
            table: Table::new(),
            entries: Vec::new(),
            flows: Vec::new(),
            last: LastPacket { place: NOWHERE, end: End::A, sockets: [(Address::default(), 0); 2] },
            vacant: Vec::new(),
            lone: VecDeque::new(),
            known: None,
            waiting: 0,
            probes: Probes::default(),
            totalled: Totalled::default(),
            batch: Batch::new(bounds.lone_flows),
        }
    }
    /// Follows only the flows found by an earlier pass, with the same identifiers.
    pub(crate) fn second_pass(sink: S, bounds: Bounds, flows: &Flows) -> Self {
        let known = flows.flows.iter().map(|flow| (flow.first.frame, flow.id)).collect();
        let bounds = Bounds { lone_flows: usize::MAX, ..bounds };
        Follower { known: Some(known), ..Follower::new(sink, bounds) }
    }
    pub(crate) const fn sink(&self) -> &S {
        &self.sink
    }
    pub(crate) const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
    pub(crate) const fn flows(&self) -> usize {
        self.flows.len() - self.vacant.len()
    }
    /// Number of entries for unacknowledged data in all flows.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }
    /// Records the time of a captured packet, even if its flow belongs to another follower.
    #[inline]
    pub(crate) fn note_time(&mut self, times: Times) {
        self.totalled.clock(times);
    }
    /// Processes a packet immediately, after `note_time`.
    pub(crate) fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        if let Transport::Tcp(tcp) = &packet.transport {
            self.tcp(times, packet, tcp);
        } else {
            self.non_tcp(times, packet);
        }
    }
    pub(crate) fn non_tcp(&mut self, times: Times, packet: &Packet<'_>) {
        self.sink.non_tcp(packet, times);
        match &packet.transport {
            Transport::Udp(udp) => self.probes.udp(times, packet, udp, &mut self.sink),
            Transport::Icmp(icmp) => self.probes.icmp(times, packet, icmp, &mut self.sink),
            Transport::Tcp(_) | Transport::LaterFragment { .. } | Transport::Other { .. } => {
                self.totalled.other_packets += 1;
            }
        }
    }
    /// Adds a packet to the batch, after `note_time`.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, times: Times, packet: &Packet<'_>) {
        // A copy: an escaping value must be stored in memory (see `fathom_capture::dissect_fast`).
        let Transport::Tcp(tcp) = &packet.transport else { return self.non_tcp(times, &packet.clone()) };
        if let Some(found) = self.place(sockets(packet, tcp), tcp.flags, times) {
            self.enqueue_at(found, times, packet, tcp);
        }
    }
    /// Adds a packet of the flow at `place`, sent by `end`, to the batch.
    #[inline(always)]
    pub(crate) fn enqueue_at(
        &mut self,
        (place, end): (u32, End),
        times: Times,
        packet: &Packet<'_>,
        tcp: &TcpHeader<'_>,
    ) {
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        self.batch.push(
            place,
            &mut entry.chain,
            Header::new(times, end, packet, tcp),
            significant_options(tcp),
        );
        if self.batch.is_full() {
            self.flush();
        }
    }
    fn tcp(&mut self, times: Times, packet: &Packet<'_>, tcp: &TcpHeader<'_>) {
        let sockets = sockets(packet, tcp);
        let Some((place, end)) = self.place(sockets, tcp.flags, times) else { return };
        let header = Header::new(times, end, packet, tcp);
        self.report(place, sockets, &Incoming::new(&header, significant_options(tcp).unwrap_or_default()));
    }
    #[inline(never)]
    fn flush(&mut self) {
        let mut batch = mem::replace(&mut self.batch, Batch::new(0));
        let mut left = Vec::new();
        for place in batch.flows() {
            self.report_chain(*place, &batch, &mut left);
        }
        for (sockets, incoming) in left {
            if let Some((place, end)) = self.place(sockets, incoming.header.flags, incoming.header.times) {
                let header = Header { end, ..*incoming.header };
                self.report(place, sockets, &Incoming::new(&header, incoming.options));
            }
        }
        batch.clear();
        self.batch = batch;
    }
    /// Processes the batched packets of one flow; from the start of a new flow, they go to `left`.
    #[inline]
    fn report_chain<'a>(
        &mut self,
        place: u32,
        batch: &'a Batch,
        left: &mut Vec<([Socket; 2], Incoming<'a>)>,
    ) {
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        let chain = mem::replace(&mut entry.chain, Chain::EMPTY);
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        let mut packets = batch.packets(chain);
        let mut reported = 0;
        while let Some(incoming) = packets.next() {
            if flow.is_followed_by(&incoming) {
                let rest = iter::once(incoming).chain(packets);
                left.extend(rest.map(|each| (flow.sockets(each.header.end), each)));
                break;
            }
            let mut context = Context { sink: &mut self.sink, flow: flow.id, header: incoming.header };
            flow.packet(&incoming, &mut context);
            reported += 1;
        }
        self.recount(place, reported);
    }
    /// Index and sending end of the last packet's flow, if this packet belongs to it.
    #[inline(always)]
    pub(crate) fn last_flow(&self, [source, destination]: [Socket; 2]) -> Option<(u32, End)> {
        let LastPacket { place, end, sockets } = &self.last;
        if *place == NOWHERE {
            None
        } else if is_same(sockets, &[source, destination]) {
            Some((*place, *end))
        } else if is_same(sockets, &[destination, source]) {
            Some((*place, end.other()))
        } else {
            None
        }
    }
    /// Index and sending end of the packet's flow. Creates the flow if there is room.
    #[inline(always)]
    pub(crate) fn place(&mut self, sockets: [Socket; 2], flags: u16, times: Times) -> Option<(u32, End)> {
        if let Some(last) = self.last_flow(sockets) {
            return Some(last);
        }
        let [source, destination] = sockets;
        let found = self.table.find(hash(source, destination, self.bounds.hash_seed), |place| {
            Some((place, self.entries.get(place as usize)?.sender(source, destination)?))
        });
        let Some((place, end)) = found else { return self.open(sockets, flags, times) };
        self.last = LastPacket { place, end, sockets };
        Some((place, end))
    }
    /// Processes a packet of the flow at `place`, or of a new flow between the same ports.
    #[inline]
    fn report(&mut self, place: u32, sockets: [Socket; 2], incoming: &Incoming<'_>) {
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        if flow.is_followed_by(incoming) {
            return self.replace(place, sockets, incoming);
        }
        let mut context = Context { sink: &mut self.sink, flow: flow.id, header: incoming.header };
        flow.packet(incoming, &mut context);
        self.recount(place, 1);
    }
    #[cold]
    fn replace(&mut self, place: u32, sockets: [Socket; 2], incoming: &Incoming<'_>) {
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        let [a, b] = flow.ends;
        self.table.remove(hash(a, b, self.bounds.hash_seed), place);
        self.waiting = self.waiting.saturating_sub(flow.listed_before);
        flow.retire();
        if let Some((next, end)) = self.open(sockets, incoming.header.flags, incoming.header.times) {
            let header = Header { end, ..*incoming.header };
            self.report(next, sockets, &Incoming::new(&header, incoming.options));
        }
    }
    /// Updates the number of entries for unacknowledged data after packets of a flow.
    #[inline]
    fn recount(&mut self, place: u32, packets: usize) {
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        let others = self.waiting.saturating_sub(flow.listed_before);
        flow.listed_before = flow.listed();
        self.waiting = others + flow.listed_before;
        if self.waiting > self.bounds.waiting {
            self.forget_waiting(place, packets);
        }
    }
    /// Forgets a few entries of this flow; a packet adds fewer.
    #[cold]
    fn forget_waiting(&mut self, place: u32, packets: usize) {
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        let others = self.waiting.saturating_sub(flow.listed_before);
        for _ in 0..FORGOTTEN_AT_ONCE * packets {
            flow.forget_oldest();
            flow.listed_before = flow.listed();
            self.waiting = others + flow.listed_before;
            if self.waiting <= self.bounds.waiting {
                break;
            }
        }
    }
    /// Creates a flow if there is room. Returns its index and the sending end of this packet.
    #[cold]
    fn open(&mut self, [source, destination]: [Socket; 2], flags: u16, times: Times) -> Option<(u32, End)> {
        // The flow of the last packet may be removed below.
        self.last.place = NOWHERE;
        self.forget_lone();
        // A SYN+ACK without captured SYN was sent by the responder.
        let is_answer = flags & flag::SYN != 0 && flags & flag::ACK != 0;
        let (ends, end): ([Socket; 2], End) =
            if is_answer { ([destination, source], End::B) } else { ([source, destination], End::A) };
        let place = self.vacant.last().copied().unwrap_or(self.flows.len() as u32);
        let id = match &self.known {
            Some(known) => known.get(&times.frame).copied(),
            None => Some(FlowId(place)),
        };
        let Some(id) = id.filter(|_| self.flows() < self.bounds.flows) else {
            self.totalled.untracked_packets += 1;
            return None;
        };
        let connection = Some(Connection::boxed(id, ends, times));
        self.vacant.pop();
        let entry = Entry::new(ends);
        match self.flows.get_mut(place as usize).zip(self.entries.get_mut(place as usize)) {
            Some((there, known)) => (*there, *known) = (connection, entry),
            None => {
                self.flows.push(connection);
                self.entries.push(entry);
            }
        }
        self.table.insert(hash(source, destination, self.bounds.hash_seed), place);
        self.batch.note_new_flow();
        self.lone.push_back(place);
        self.sink.opened(id, ends, times);
        Some((place, end))
    }
    fn forget_lone(&mut self) {
        while self.lone.len() >= self.bounds.lone_flows.max(1) {
            let Some(place) = self.lone.pop_front() else { return };
            let Some(there) = self.flows.get_mut(place as usize) else { return };
            // Flows in the batch are kept; they are fewer than the lone flows allowed.
            let waits = self.entries.get(place as usize).is_some_and(|entry| !entry.chain.is_empty());
            let Some(flow) = there.take_if(|flow| flow.packets <= 1 && !waits) else {
                continue;
            };
            self.waiting = self.waiting.saturating_sub(flow.listed_before);
            let [a, b] = flow.ends;
            self.table.remove(hash(a, b, self.bounds.hash_seed), place);
            self.vacant.push(place);
            self.totalled.forgotten_flows += 1;
            self.sink.forgotten(flow.id);
        }
    }
    pub(crate) fn finish(mut self) -> (Flows, S) {
        self.flush();
        let probes = self.probes.finish(&mut self.sink);
        let mut flows: Vec<_> = self.flows.into_iter().flatten().map(FlowSummary::of).collect();
        flows.sort_unstable_by_key(|flow| flow.first.frame);
        (Flows { flows, probes, totalled: self.totalled }, self.sink)
    }
}
