//! From packets to flows.
use crate::connection::{Connection, Incoming, flag};
use crate::half::Context;
use crate::probe::Probes;
use crate::summary::{FlowSummary, Flows, Totalled};
use crate::table::{Key, Table, end_of};
use crate::{FlowId, Sink, Times};
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
    /// The flow of the last packet.
    latest: u32,
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
            latest: 0,
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
    fn tcp(&mut self, times: Times, packet: &Packet<'_>, tcp: &TcpHeader<'_>) {
        let source = (packet.source, tcp.source_port);
        let destination = (packet.destination, tcp.destination_port);
        let (key, is_low) = Key::of(source, destination);
        let incoming = Incoming { packet, tcp };
        // Packets come in trains.
        let flows = &self.flows;
        let is_it = |place: u32| flow(flows, place).is_some_and(|flow| flow.key == key);
        let hash = || key.hash(self.bounds.hash_seed);
        let found = if is_it(self.latest) { Some(self.latest) } else { self.table.find(hash(), is_it) };
        let place = match found {
            Some(place) if !self.is_followed(place, &incoming, is_low, times) => Some(place),
            Some(place) => {
                self.retire(hash(), place);
                self.open(key, &incoming, is_low, times)
            }
            None => self.open(key, &incoming, is_low, times),
        };
        match place {
            Some(place) => self.follow(place, &incoming, is_low, times),
            None => self.totalled.untracked_packets += 1,
        }
    }
    fn retire(&mut self, hash: u64, place: u32) {
        self.table.remove(hash, place);
        self.latest = u32::MAX;
        if let Some(flow) = self.flows.get_mut(place as usize).and_then(Option::as_mut) {
            self.waiting = self.waiting.saturating_sub(flow.listed_before);
            flow.retire();
        }
    }
    fn is_followed(&self, place: u32, incoming: &Incoming<'_>, is_low: bool, times: Times) -> bool {
        flow(&self.flows, place)
            .is_some_and(|flow| flow.is_followed_by(incoming, end_of(is_low, flow.a_is_low), times.at))
    }
    fn follow(&mut self, place: u32, incoming: &Incoming<'_>, is_low: bool, times: Times) {
        let Some(flow) = self.flows.get_mut(place as usize).and_then(Option::as_mut) else { return };
        self.latest = place;
        let end = end_of(is_low, flow.a_is_low);
        let mut context = Context { sink: &mut self.sink, flow: flow.id, times, end };
        flow.packet(incoming, &mut context);
        let others = self.waiting.saturating_sub(flow.listed_before);
        // A packet adds a few entries at most, and so a few are forgotten.
        for _ in 0..FORGOTTEN_AT_ONCE {
            flow.listed_before = flow.listed();
            self.waiting = others + flow.listed_before;
            if self.waiting <= self.bounds.waiting {
                break;
            }
            flow.forget_oldest();
        }
    }
    /// Begins a flow, if there is room.
    fn open(&mut self, key: Key, incoming: &Incoming<'_>, is_low: bool, times: Times) -> Option<u32> {
        self.forget_lone();
        if self.flows() >= self.bounds.flows {
            return None;
        }
        // The answer to a SYN that was not seen goes to the one that opened the connection.
        let is_answer = incoming.has(flag::SYN) && incoming.has(flag::ACK);
        let a_is_low = is_low != is_answer;
        let id = FlowId(self.next);
        self.next += 1;
        let connection = Some(Box::new(Connection::new(id, key, a_is_low, times)));
        let place = match self.vacant.pop() {
            Some(place) => place,
            None => self.flows.len() as u32,
        };
        match self.flows.get_mut(place as usize) {
            Some(there) => *there = connection,
            None => self.flows.push(connection),
        }
        self.table.insert(key.hash(self.bounds.hash_seed), place);
        self.lone.push_back((place, id));
        self.sink.opened(id, key.ends(a_is_low), times);
        Some(place)
    }
    /// Keeps the flows of one packet few.
    fn forget_lone(&mut self) {
        while self.lone.len() >= self.bounds.lone_flows.max(1) {
            let Some((place, id)) = self.lone.pop_front() else { return };
            let Some(there) = self.flows.get_mut(place as usize) else { return };
            let Some(flow) = there.take_if(|flow| flow.id == id && flow.packets <= 1) else { continue };
            self.waiting = self.waiting.saturating_sub(flow.listed_before);
            self.table.remove(flow.key.hash(self.bounds.hash_seed), place);
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

fn flow(flows: &[Option<Box<Connection>>], place: u32) -> Option<&Connection> {
    flows.get(place as usize)?.as_deref()
}
