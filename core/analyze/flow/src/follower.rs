//! From packets to flows: the table of flows, and the packets that wait for others of their flow.
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

/// How many of a flow's entries are forgotten at one packet, where there are too many: more than one packet adds.
const FORGOTTEN_AT_ONCE: usize = 8;

/// No place of a flow.
const NOWHERE: u32 = u32::MAX;

/// The last packet: from where to where, which end of its flow sent it, and where that flow is.
#[derive(Clone, Copy, Debug)]
struct LastPacket {
    place: u32,
    end: End,
    sockets: [Socket; 2],
}

/// Follows flows and reports to a sink. [`crate::Tracer`], [`crate::BatchedTracer`] and [`crate::Shards`] each use it in one way only:
/// [`Follower::packet`] does not ask what waits, so it is not for a follower that batches.
#[derive(Debug)]
pub(crate) struct Follower<S> {
    sink: S,
    bounds: Bounds,
    table: Table,
    /// By place, as `flows`.
    entries: Vec<Entry>,
    /// `None` where a flow was forgotten.
    flows: Vec<Option<Box<Connection>>>,
    /// Of the last packet: packets come in trains, and the next is mostly of the same flow and the same end.
    last: LastPacket,
    vacant: Vec<u32>,
    /// Places of flows that had one packet when they were added here, oldest first.
    lone: VecDeque<u32>,
    /// Of a second pass: the frames that begin flows, and the numbers of those.
    known: Option<BTreeMap<u64, FlowId>>,
    /// Entries of the lists that grow with what is not acknowledged.
    waiting: usize,
    probes: Probes,
    totalled: Totalled,
    batch: Batch,
}

/// From where to where.
#[inline]
pub(crate) fn sockets(packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> [Socket; 2] {
    [(packet.source, tcp.source_port), (packet.destination, tcp.destination_port)]
}

impl<S: Sink> Follower<S> {
    /// A follower that has seen nothing.
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
    /// Follows the flows that an earlier pass has kept, by the numbers that it gave them, and no others.
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
    /// Flows that are kept.
    pub(crate) const fn flows(&self) -> usize {
        self.flows.len() - self.vacant.len()
    }
    /// What waits for an ACK, in all flows.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }
    /// Counts a packet of the capture, whichever follower its flow belongs to.
    #[inline]
    pub(crate) fn note_time(&mut self, times: Times) {
        self.totalled.clock(times);
    }
    /// Follows a packet at once. Its time was noted.
    pub(crate) fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        if let Transport::Tcp(tcp) = &packet.transport {
            self.tcp(times, packet, tcp);
        } else {
            self.non_tcp(times, packet);
        }
    }
    /// A packet that is not TCP.
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
    /// Puts a packet to those that wait for others of their flow. Its time was noted.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, times: Times, packet: &Packet<'_>) {
        // A copy, as what is given away is stored in memory: see `fathom_capture::dissect_fast`.
        let Transport::Tcp(tcp) = &packet.transport else { return self.non_tcp(times, &packet.clone()) };
        if let Some(found) = self.place(sockets(packet, tcp), tcp.flags, times) {
            self.enqueue_at(found, times, packet, tcp);
        }
    }
    /// A packet of the flow at this place, which that end sent, waits from now on.
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
    /// Tells of all packets that wait.
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
    /// Tells of the packets of a flow that wait; those from the first on which begins another flow are `left`.
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
    /// Where the flow is of a packet between these, and who sent it, if the last packet was of that flow too.
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
    /// Where the flow is of a packet with these flags, and who sent it; a flow that begins, if there is room.
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
    /// A packet of a flow that is there; or of another between the same ports.
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
    /// A packet begins another flow between the same ports.
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
    /// After some packets of a flow: what waits for an ACK.
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
    /// A packet adds a few entries at most, and so a few of its flow's are forgotten.
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
    /// Begins a flow, if there is room. Gives which of its ends sent this packet.
    #[cold]
    fn open(&mut self, [source, destination]: [Socket; 2], flags: u16, times: Times) -> Option<(u32, End)> {
        // The flow that passed last may be one of those that make room.
        self.last.place = NOWHERE;
        self.forget_lone();
        // The answer to a SYN that was not seen goes to the one that opened the connection.
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
    /// Keeps the flows of one packet few.
    fn forget_lone(&mut self) {
        while self.lone.len() >= self.bounds.lone_flows.max(1) {
            let Some(place) = self.lone.pop_front() else { return };
            let Some(there) = self.flows.get_mut(place as usize) else { return };
            // No first packet waits here: fewer wait than there are lone flows.
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
    /// The capture is at its end.
    pub(crate) fn finish(mut self) -> (Flows, S) {
        self.flush();
        let probes = self.probes.finish(&mut self.sink);
        let mut flows: Vec<_> = self.flows.into_iter().flatten().map(FlowSummary::of).collect();
        flows.sort_unstable_by_key(|flow| flow.first.frame);
        (Flows { flows, probes, totalled: self.totalled }, self.sink)
    }
}
