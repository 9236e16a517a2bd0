//! From packets to flows.
use crate::connection::{Connection, Incoming, flag};
use crate::half::Context;
use crate::probe::{Probes, Socket};
use crate::summary::{FlowSummary, Flows, Totalled};
use crate::table::{Table, Way, hash, is_of};
use crate::{End, FlowId, Sink, Times};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_capture::{Packet, TcpHeader, Transport};

/// What a [`Tracer`] keeps at most, so that a hostile file cannot take all memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Flows of one packet. The oldest beyond are forgotten and counted: a flood of SYNs is a number, not a million flows.
    pub lone_flows: usize,
    /// Flows. The packets of those that begin beyond are counted only.
    pub flows: usize,
    /// What waits for an ACK, in all flows: segments, holes, timestamps, SACKed ranges, repairs. Beyond, a flow that adds to it forgets its
    /// oldest.
    pub waiting: usize,
    /// Starts the hash of the flow table, so that a file cannot be made to have all flows in one place.
    pub hash_seed: u64,
}

impl Default for Bounds {
    /// 16,384 lone flows (50 MB); half a million flows (1.7 GB, if there are so many); 4 million waiting (300 MB at most).
    fn default() -> Self {
        Bounds { lone_flows: 1 << 14, flows: 1 << 19, waiting: 1 << 22, hash_seed: 0 }
    }
}

/// How many of a flow's entries are forgotten at one packet, where there are too many: more than one packet adds.
const FORGOTTEN_AT_ONCE: usize = 8;

/// Follows all flows of a capture in one pass, and tells a [`Sink`] what happens.
#[derive(Debug)]
pub struct Tracer<S> {
    sink: S,
    bounds: Bounds,
    table: Table,
    /// `None` where a flow was forgotten.
    flows: Vec<Option<Box<Connection>>>,
    vacant: Vec<u32>,
    /// Flows of one packet when they were added here, oldest first.
    lone: VecDeque<(u32, FlowId)>,
    next: u32,
    /// Entries of the lists that grow with what is not acknowledged.
    waiting: usize,
    probes: Probes,
    totalled: Totalled,
}

impl<S: Sink> Tracer<S> {
    /// A tracer that tells `sink`.
    pub fn new(sink: S) -> Self {
        Tracer::bounded(sink, Bounds::default())
    }
    /// The same, with bounds of one's own.
    pub fn bounded(sink: S, bounds: Bounds) -> Self {
        Tracer {
            sink,
            bounds,
            table: Table::new(),
            flows: Vec::new(),
            vacant: Vec::new(),
            lone: VecDeque::new(),
            next: 0,
            waiting: 0,
            probes: Probes::default(),
            totalled: Totalled::default(),
        }
    }
    /// Whom it tells.
    pub const fn sink(&self) -> &S {
        &self.sink
    }
    /// The same, to be changed: taken empty, say, for a report so far.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
    /// Flows that are kept.
    pub const fn flows(&self) -> usize {
        self.flows.len() - self.vacant.len()
    }
    /// What waits for an ACK, in all flows: segments, holes, timestamps, SACKed ranges, repairs.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }
    /// The next packet of the capture.
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.totalled.clock(times);
        if !matches!(packet.transport, Transport::Tcp(_)) {
            self.sink.other(packet, times);
        }
        match &packet.transport {
            Transport::Tcp(tcp) => self.tcp(times, packet, tcp),
            Transport::Udp(udp) => self.probes.udp(times, packet, udp, &mut self.sink),
            Transport::Icmp(icmp) => self.probes.icmp(times, packet, icmp, &mut self.sink),
            Transport::LaterFragment { .. } | Transport::Other { .. } => self.totalled.other_packets += 1,
        }
    }
    #[inline]
    fn tcp(&mut self, times: Times, packet: &Packet<'_>, tcp: &TcpHeader<'_>) {
        let incoming = Incoming::new(packet, tcp);
        let (source, destination) =
            ((packet.source, tcp.source_port), (packet.destination, tcp.destination_port));
        match self.find(source, destination) {
            Some(way) => self.known(way, &incoming, times),
            None => self.unknown(&incoming, times),
        }
    }
    /// The way of a flow that a packet between these goes.
    #[inline]
    fn find(&self, source: Socket, destination: Socket) -> Option<Way> {
        self.table.find(hash(source, destination, self.bounds.hash_seed), |way| {
            let flow = self.flows.get(way.place() as usize).and_then(Option::as_deref);
            flow.is_some_and(|flow| is_of(&flow.ends, way.end(), source, destination))
        })
    }
    /// The flow at this place is to be found from now on, or no more.
    fn list(&mut self, [a, b]: [Socket; 2], place: u32, change: fn(&mut Table, u64, Way)) {
        change(&mut self.table, hash(a, b, self.bounds.hash_seed), Way::new(place, End::A));
        change(&mut self.table, hash(b, a, self.bounds.hash_seed), Way::new(place, End::B));
    }
    /// A packet of a flow that is there; or of another between the same ports.
    #[inline]
    fn known(&mut self, way: Way, incoming: &Incoming<'_>, times: Times) {
        let (place, end) = (way.place(), way.end());
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        if flow.is_followed_by(incoming, end, times.at) {
            self.waiting = self.waiting.saturating_sub(flow.listed_before);
            flow.retire();
            let ends = flow.ends;
            self.list(ends, place, Table::remove);
            return self.unknown(incoming, times);
        }
        let mut context = Context { sink: &mut self.sink, flow: flow.id, times, end };
        flow.packet(incoming, &mut context);
        let others = self.waiting.saturating_sub(flow.listed_before);
        flow.listed_before = flow.listed();
        self.waiting = others + flow.listed_before;
        if self.waiting > self.bounds.waiting {
            self.forget_waiting(place);
        }
    }
    /// A packet adds a few entries at most, and so a few of its flow's are forgotten.
    #[cold]
    fn forget_waiting(&mut self, place: u32) {
        let Some(Some(flow)) = self.flows.get_mut(place as usize) else { return };
        let others = self.waiting.saturating_sub(flow.listed_before);
        for _ in 0..FORGOTTEN_AT_ONCE {
            flow.forget_oldest();
            flow.listed_before = flow.listed();
            self.waiting = others + flow.listed_before;
            if self.waiting <= self.bounds.waiting {
                break;
            }
        }
    }
    #[cold]
    fn unknown(&mut self, incoming: &Incoming<'_>, times: Times) {
        match self.open(incoming, times) {
            Some(way) => self.known(way, incoming, times),
            None => self.totalled.untracked_packets += 1,
        }
    }
    /// Begins a flow, if there is room. Gives which way of it this packet goes.
    fn open(&mut self, incoming: &Incoming<'_>, times: Times) -> Option<Way> {
        self.forget_lone();
        if self.flows() >= self.bounds.flows {
            return None;
        }
        let Incoming { packet, tcp, .. } = incoming;
        let (source, destination) =
            ((packet.source, tcp.source_port), (packet.destination, tcp.destination_port));
        // The answer to a SYN that was not seen goes to the one that opened the connection.
        let is_answer = incoming.has(flag::SYN) && incoming.has(flag::ACK);
        let (ends, end): ([Socket; 2], End) =
            if is_answer { ([destination, source], End::B) } else { ([source, destination], End::A) };
        let id = FlowId(self.next);
        self.next += 1;
        let connection = Some(Box::new(Connection::new(id, ends, times)));
        let place = match self.vacant.pop() {
            Some(place) => place,
            None => self.flows.len() as u32,
        };
        match self.flows.get_mut(place as usize) {
            Some(there) => *there = connection,
            None => self.flows.push(connection),
        }
        self.list(ends, place, Table::insert);
        self.lone.push_back((place, id));
        self.sink.opened(id, ends, times);
        Some(Way::new(place, end))
    }
    /// Keeps the flows of one packet few.
    fn forget_lone(&mut self) {
        while self.lone.len() >= self.bounds.lone_flows.max(1) {
            let Some((place, id)) = self.lone.pop_front() else { return };
            let Some(there) = self.flows.get_mut(place as usize) else { return };
            let Some(flow) = there.take_if(|flow| flow.id == id && flow.packets <= 1) else { continue };
            self.waiting = self.waiting.saturating_sub(flow.listed_before);
            self.list(flow.ends, place, Table::remove);
            self.vacant.push(place);
            self.totalled.forgotten_flows += 1;
            self.sink.forgotten(id);
        }
    }
    /// The capture is at its end.
    pub fn finish(mut self) -> (Flows, S) {
        let probes = self.probes.finish(&mut self.sink);
        let mut flows: Vec<_> = self.flows.into_iter().flatten().map(|flow| FlowSummary::of(*flow)).collect();
        flows.sort_unstable_by_key(|flow| flow.id);
        (Flows { flows, probes, totalled: self.totalled }, self.sink)
    }
}
