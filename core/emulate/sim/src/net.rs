//! The network between the endpoints: the line, extra delays on the server side, access links.
use crate::agenda::{Agenda, Wake};
use crate::packet::{BoxedPacket, END, Packet, PacketPool, Part};
use crate::queue_log::QueueLog;
use crate::shaper::{Shaper, interface_bytes};
use crate::watch::Watch;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_link::{DelayLine, Line, LinePosition, Serializer};
use fathom_qdisc::Packet as _;
use fathom_units::{Bytes, Direction, Duration, Rate, Time};

/// Link-layer overhead of access links, for Ethernet; the default of a scenario's hops too.
const ACCESS_OVERHEAD: Bytes = Bytes(14);

/// As long as three queues of 100 s in a row.
const LONGEST_QUEUE: Duration = Duration::from_secs(300);

/// How the packets of a flow reach the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Edge {
    /// Number of its pair of extra delays on the server side.
    pub(crate) pipe: Option<u32>,
    /// Number of its sender's access link.
    pub(crate) access: Option<u32>,
    /// The part of the line that it crosses.
    pub(crate) part: Part,
}

/// Packets queued for an access link, each with the time of its last bit.
struct Access {
    serializer: Serializer,
    waiting: VecDeque<(Time, BoxedPacket, Direction, Option<u32>)>,
}

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) line: Line<BoxedPacket>,
    pub(crate) watch: Watch,
    pub(crate) pool: PacketPool,
    /// Half of each extra delay: `pipes[2 n]` to the server, `pipes[2 n + 1]` to the user.
    pipes: Vec<DelayLine<BoxedPacket>>,
    accesses: Vec<Access>,
    /// Packets that have entered the line.
    pub(crate) entered: u64,
    /// Egress shaper of the user, in a [`Session`](crate::Session).
    pub(crate) egress: Option<Shaper>,
    /// Packets bypass the egress shaper.
    pub(crate) is_egress_bypassed: bool,
    /// Bytes that the user has sent to the line.
    pub(crate) sent_bytes: u64,
}

impl Net {
    pub(crate) fn new(line: Line<BoxedPacket>, watch: Watch) -> Self {
        let (pipes, accesses) = (Vec::new(), Vec::new());
        let (agenda, pool) = (Agenda::default(), PacketPool::default());
        Net {
            now: Time::ZERO,
            agenda,
            line,
            watch,
            pool,
            pipes,
            accesses,
            entered: 0,
            egress: None,
            is_egress_bypassed: false,
            sent_bytes: 0,
        }
    }
    /// A pair of delays with the sum `extra`; reuses an existing pair.
    pub(crate) fn pipe(&mut self, extra: Duration) -> Option<u32> {
        if extra == Duration::ZERO {
            return None;
        }
        let half = extra / 2;
        let there = self.pipes.iter().step_by(2).position(|pipe| pipe.delay() == half);
        let number = there.unwrap_or_else(|| {
            self.pipes.extend([half, half].map(DelayLine::new));
            self.pipes.len() / 2 - 1
        });
        Some(number as u32)
    }
    /// Adds an access link.
    pub(crate) fn access(&mut self, rate: Rate) -> u32 {
        self.accesses.push(Access { serializer: Serializer::new(Some(rate)), waiting: VecDeque::new() });
        self.accesses.len() as u32 - 1
    }

    /// Sends `packet` from the host of its sender.
    pub(crate) fn send(&mut self, packet: Packet, travel: Direction, edge: Edge) {
        let packet = self.pool.wrap(packet);
        let Some(number) = edge.access else { return self.reach_edge(packet, travel, edge.pipe) };
        let access = &mut self.accesses[number as usize];
        let sent = access.serializer.send(packet.len() + ACCESS_OVERHEAD, self.now);
        if access.waiting.is_empty() {
            self.agenda.push(sent, Wake::Access(number));
        }
        access.waiting.push_back((sent, packet, travel, edge.pipe));
    }
    /// The head of an access link has been sent.
    pub(crate) fn leave_access(&mut self, number: u32) {
        let access = &mut self.accesses[number as usize];
        let Some((_, packet, travel, pipe)) = access.waiting.pop_front() else { return };
        if let Some((next, ..)) = access.waiting.front() {
            self.agenda.push(*next, Wake::Access(number));
        }
        self.reach_edge(packet, travel, pipe);
    }
    /// `packet` reaches the line, or its extra delay on the server side first.
    fn reach_edge(&mut self, packet: BoxedPacket, travel: Direction, pipe: Option<u32>) {
        match pipe.filter(|_| travel == Direction::Down) {
            Some(pair) => self.delay(2 * pair + 1, packet),
            None => self.enter(travel, packet),
        }
    }
    /// `packet` has left the line towards the server: applies its extra delay.
    pub(crate) fn delay_beyond(&mut self, pair: u32, packet: BoxedPacket) {
        self.delay(2 * pair, packet);
    }
    fn delay(&mut self, number: u32, packet: BoxedPacket) {
        let pipe = &mut self.pipes[number as usize];
        let idle = pipe.next().is_none();
        pipe.push(packet, self.now);
        if let Some(at) = pipe.next().filter(|_| idle) {
            self.agenda.push(at, Wake::Pipe(number));
        }
    }
    /// The head of a delay enters the line, or is returned if it goes to the server.
    pub(crate) fn leave_pipe(&mut self, number: u32) -> Option<BoxedPacket> {
        let pipe = &mut self.pipes[number as usize];
        let (packet, _) = pipe.pop(self.now)?;
        if let Some(at) = pipe.next() {
            self.agenda.push(at, Wake::Pipe(number));
        }
        if number.is_multiple_of(2) {
            return Some(packet);
        }
        self.enter(Direction::Down, packet);
        None
    }
    /// `packet` leaves the egress shaper and enters the line.
    pub(crate) fn enter_line(&mut self, packet: BoxedPacket) {
        self.sent_bytes += interface_bytes(&packet);
        self.line.take(Direction::Up, packet, self.now, &mut self.watch);
    }
    fn enter(&mut self, travel: Direction, packet: BoxedPacket) {
        self.entered += 1;
        if packet.joins == END {
            if travel == Direction::Up
                && let Some(shaper) = self.egress.as_mut().filter(|_| !self.is_egress_bypassed)
            {
                return shaper.enqueue(packet, self.now);
            }
            self.sent_bytes += if travel == Direction::Up { interface_bytes(&packet) } else { 0 };
            return self.line.take(travel, packet, self.now, &mut self.watch);
        }
        let position = LinePosition { hop: usize::from(packet.joins), direction: travel };
        self.line.join(position, packet, self.now, &mut self.watch);
    }
    /// The next packet that leaves the line.
    pub(crate) fn poll(&mut self) -> Option<(Direction, BoxedPacket, Time)> {
        self.line.poll(self.now, &mut self.watch)
    }
    /// The log of the queues, with what waits in them now: it goes on without new packets until
    /// they are empty.
    pub(crate) fn log_until_empty(&mut self) -> Option<QueueLog> {
        let last = self.now + LONGEST_QUEUE;
        while self.watch.log.is_some()
            && let Some(next) = self.line.next_event().filter(|next| *next <= last)
        {
            self.now = next;
            drop(self.poll());
        }
        self.watch.log.take()
    }
    /// Packets on the line: queued, sending or in flight.
    pub(crate) fn on_the_line(&self) -> u64 {
        let positions = (0..self.line.len())
            .flat_map(|hop| Direction::BOTH.map(|direction| LinePosition { hop, direction }));
        let held = positions.map(|position| {
            let bottleneck = self.line.bottleneck(position);
            let sending = bottleneck.sending(self.now).packets;
            bottleneck.queued().packets + sending + bottleneck.in_flight(self.now).packets
        });
        held.sum()
    }
}
