//! What lies between the ends of all flows: the line, own delays on the server's side, access links of senders.
use crate::agenda::{Agenda, Wake};
use crate::packet::{BoxedPacket, END, Packet, PacketPool, Part};
use crate::shaper::{Shaper, interface_bytes};
use crate::watch::Watch;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_link::{DelayLine, Line, LinePosition, Serializer};
use fathom_qdisc::Packet as _;
use fathom_units::{Bytes, Direction, Duration, Rate, Time};

/// As a link of Ethernet charges a packet, and a scenario's hop by default.
const ACCESS_OVERHEAD: Bytes = Bytes(14);

/// How a flow's packets reach the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Edge {
    /// Number of the pair of delays that the flow has on the server's side.
    pub(crate) pipe: Option<u32>,
    /// Number of its sender's access link.
    pub(crate) access: Option<u32>,
    /// What they cross of it.
    pub(crate) part: Part,
}

/// Packets that wait for their turn on an access link, each with the time of its last bit.
struct Access {
    serializer: Serializer,
    waiting: VecDeque<(Time, BoxedPacket, Direction, Option<u32>)>,
}

/// The network.
pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) line: Line<BoxedPacket>,
    pub(crate) watch: Watch,
    pub(crate) pool: PacketPool,
    /// Half of each own delay; `pipes[2 n]` is that of pair n away from the user, `pipes[2 n + 1]` to the user.
    pipes: Vec<DelayLine<BoxedPacket>>,
    accesses: Vec<Access>,
    /// Packets that have entered the line.
    pub(crate) entered: u64,
    /// Shaper of what the user sends, in a [`Session`](crate::Session).
    pub(crate) egress: Option<Shaper>,
    /// Packets go past it.
    pub(crate) is_egress_bypassed: bool,
    /// What the user has sent to the line, in bytes.
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
    /// A pair of delays that make `extra` together; one there is already, where there is.
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
    /// A new access link.
    pub(crate) fn access(&mut self, rate: Rate) -> u32 {
        self.accesses.push(Access { serializer: Serializer::new(Some(rate)), waiting: VecDeque::new() });
        self.accesses.len() as u32 - 1
    }

    /// `packet` leaves its sender's host.
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
    /// The head of an access link has left it.
    pub(crate) fn leave_access(&mut self, number: u32) {
        let access = &mut self.accesses[number as usize];
        let Some((_, packet, travel, pipe)) = access.waiting.pop_front() else { return };
        if let Some((next, ..)) = access.waiting.front() {
            self.agenda.push(*next, Wake::Access(number));
        }
        self.reach_edge(packet, travel, pipe);
    }
    /// `packet` is at the end of the line, or on the server's side before its own delay.
    fn reach_edge(&mut self, packet: BoxedPacket, travel: Direction, pipe: Option<u32>) {
        match pipe.filter(|_| travel == Direction::Down) {
            Some(pair) => self.delay(2 * pair + 1, packet),
            None => self.enter(travel, packet),
        }
    }
    /// `packet`, on its way to the server, has left the line.
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
    /// The head of a delay is through: it enters the line, or is given back if it goes to the server.
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
    /// `packet` has left the egress shaper.
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
    /// The next packet that has left the line.
    pub(crate) fn poll(&mut self) -> Option<(Direction, BoxedPacket, Time)> {
        self.line.poll(self.now, &mut self.watch)
    }
    /// Packets on the line, whatever they are doing there.
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
