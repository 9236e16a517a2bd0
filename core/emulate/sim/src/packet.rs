//! Packets on the line.
use crate::hops::HopKind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Deref;
use fathom_qdisc::{Ecn, End, Packet as Queueable, PureAck};
use fathom_tcp::{Ack, Data, SackRange};
use fathom_units::{Bytes, Direction, Time};

/// Headers of IPv4 and of TCP with timestamps.
const TCP_HEADERS: u16 = 52;
/// A SYN has the options MSS, window scale, SACK permitted and timestamps.
const SYN_LEN: u16 = 60;
/// Two NOPs, kind and length; then each range.
const SACK_OPTION: u16 = 4;
const SACK_RANGE: u16 = 8;

/// A packet. `side` and `tos` hold what a queue discipline may ask for.
///
/// A flat struct, interpreted by [`Body`]: enums are copied field by field, unaligned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// A sequence number, if any, and times.
    numbers: [u64; 3],
    sack: [SackRange; 3],
    /// Length, window, or number.
    amount: u32,
    /// Number of its flow, from 0.
    pub(crate) flow: u32,
    ip_len: u16,
    /// DSCP and ECN, as in the IP header.
    tos: u8,
    /// Host on the user's side; the highest bit is set if the packet travels to the user.
    side: u8,
    kind: u8,
    flags: u8,
    /// Routers at which it joins and leaves the line, or [`END`].
    pub(crate) joins: u8,
    pub(crate) leaves: u8,
}

/// A packet that is moved about a dozen times, so it is boxed.
#[derive(Clone, Debug)]
pub(crate) struct BoxedPacket(Box<Packet>);

impl Deref for BoxedPacket {
    type Target = Packet;
    fn deref(&self) -> &Packet {
        &self.0
    }
}

/// Boxes of delivered packets, reused to save an allocation per packet.
#[derive(Default)]
pub(crate) struct PacketPool(Vec<BoxedPacket>);

impl PacketPool {
    #[inline]
    pub(crate) fn wrap(&mut self, packet: Packet) -> BoxedPacket {
        match self.0.pop() {
            Some(mut boxed) => {
                *boxed.0 = packet;
                boxed
            }
            None => BoxedPacket(Box::new(packet)),
        }
    }
    /// Returns a box to the pool.
    #[inline]
    pub(crate) fn give(&mut self, boxed: BoxedPacket) {
        self.0.push(boxed);
    }
}

/// Instead of a router's number: the end of the line.
pub(crate) const END: u8 = u8::MAX;

/// The part of the line that a flow crosses: between two routers, or an [`END`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// On the user's side.
    pub(crate) near: u8,
    /// On the server's side.
    pub(crate) far: u8,
}

impl Default for Part {
    /// The whole line.
    fn default() -> Self {
        Part { near: END, far: END }
    }
}

const TO_USER: u8 = 0x80;
/// A cache line, since there can be many packets on the line.
const _: () = assert!(size_of::<Packet>() <= 64);

/// The content of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A TCP segment, or the SYN.
    Data { seq: u64, sent_at: Time, len: u32, syn: bool, cwr: bool, push: bool },
    /// A TCP ACK. The window is at most 4 GB.
    Ack { ack: u64, echo: Time, received_at: Time, sack: [SackRange; 3], window: u32, flags: u8 },
    /// A datagram of a workload, by number.
    Datagram { number: u32, sent_at: Time },
    /// A probe, by number; on its way back with its arrival time at the server.
    Probe { number: u32, is_icmp: bool, sent_at: Time, reached_at: Option<Time> },
    /// A probe of a hop, by number, or its answer.
    Hop { hop: u8, kind: HopKind, number: u32 },
}

const ECE: u8 = 1;
const DSACK: u8 = 2;
const SYN: u8 = 4;
const CWR: u8 = 8;
const ICMP: u8 = 16;
const PUSH: u8 = 32;

const DATA: u8 = 0;
const ACK: u8 = 1;
const DATAGRAM: u8 = 2;
const PROBE: u8 = 3;
const HOP: u8 = 4;

const fn flag(on: bool, bit: u8) -> u8 {
    if on { bit } else { 0 }
}

/// The stored form of a body: kind, flags, amount, numbers, ranges.
type Held = (u8, u8, u32, [u64; 3], [SackRange; 3]);

impl Body {
    fn held(self) -> Held {
        let none = [SackRange::default(); 3];
        match self {
            Body::Data { seq, sent_at, len, syn, cwr, push } => {
                let flags = flag(syn, SYN) | flag(cwr, CWR) | flag(push, PUSH);
                (DATA, flags, len, [seq, sent_at.as_nanos(), 0], none)
            }
            Body::Ack { ack, echo, received_at, sack, window, flags } => {
                (ACK, flags, window, [ack, echo.as_nanos(), received_at.as_nanos()], sack)
            }
            Body::Datagram { number, sent_at } => (DATAGRAM, 0, number, [0, sent_at.as_nanos(), 0], none),
            Body::Probe { number, is_icmp, sent_at, reached_at } => {
                // `Time::MAX` is never an arrival time.
                let reached = reached_at.unwrap_or(Time::MAX);
                (PROBE, flag(is_icmp, ICMP), number, [0, sent_at.as_nanos(), reached.as_nanos()], none)
            }
            Body::Hop { hop, kind, number } => (HOP, kind as u8, number, [u64::from(hop), 0, 0], none),
        }
    }
}

impl Packet {
    #[inline]
    pub(crate) fn body(&self) -> Body {
        let Packet { numbers: [seq, sent_at, third], sack, amount, flags, .. } = *self;
        let (sent_at, third) = (Time::from_nanos(sent_at), Time::from_nanos(third));
        match self.kind {
            DATA => {
                let (syn, cwr, push) = (flags & SYN != 0, flags & CWR != 0, flags & PUSH != 0);
                Body::Data { seq, sent_at, len: amount, syn, cwr, push }
            }
            ACK => Body::Ack { ack: seq, echo: sent_at, received_at: third, sack, window: amount, flags },
            DATAGRAM => Body::Datagram { number: amount, sent_at },
            HOP => Body::Hop { hop: seq as u8, kind: HopKind::of(flags), number: amount },
            _ => {
                let reached_at = (third != Time::MAX).then_some(third);
                Body::Probe { number: amount, is_icmp: flags & ICMP != 0, sent_at, reached_at }
            }
        }
    }
}

/// What all packets of a flow in one direction have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: u32,
    pub(crate) dscp: u8,
    /// Host on the user's side, below 128.
    pub(crate) host: u8,
    /// Direction of travel.
    pub(crate) travel: Direction,
    pub(crate) part: Part,
}

impl Label {
    fn packet(self, body: Body, ip_len: u16, ecn: Ecn) -> Packet {
        let Part { near, far } = self.part;
        let (to_user, joins, leaves) = match self.travel {
            Direction::Up => (0, near, far),
            Direction::Down => (TO_USER, far, near),
        };
        let (kind, flags, amount, numbers, sack) = body.held();
        let (tos, side) = (ecn.in_class(self.dscp << 2), self.host | to_user);
        Packet { numbers, sack, amount, flow: self.flow, ip_len, tos, side, kind, flags, joins, leaves }
    }
    pub(crate) fn data(self, data: &Data) -> Packet {
        let Data { seq, len, sent_at, syn, cwr, push, ecn } = *data;
        let ip_len = if syn { SYN_LEN } else { TCP_HEADERS + len as u16 };
        let body = Body::Data { seq, sent_at, len, syn, cwr, push };
        self.packet(body, ip_len, ecn)
    }
    pub(crate) fn ack(self, ack: &Ack) -> Packet {
        let ranges = ack.sack.iter().filter(|range| range.start < range.end).count() as u16;
        let ip_len = match (ack.syn, ranges) {
            (true, _) => SYN_LEN,
            (false, 0) => TCP_HEADERS,
            (false, n) => TCP_HEADERS + SACK_OPTION + n * SACK_RANGE,
        };
        let body = Body::Ack {
            ack: ack.ack,
            echo: ack.echo,
            received_at: ack.received_at,
            sack: ack.sack,
            window: u32::try_from(ack.window).unwrap_or(u32::MAX),
            flags: flag(ack.ece, ECE) | flag(ack.dsack, DSACK) | flag(ack.syn, SYN),
        };
        self.packet(body, ip_len, Ecn::NotEct)
    }
    pub(crate) fn datagram(self, number: u32, ip_len: u16, sent_at: Time) -> Packet {
        self.packet(Body::Datagram { number, sent_at }, ip_len, Ecn::NotEct)
    }
    pub(crate) fn probe(self, body: Body, ip_len: u16) -> Packet {
        self.packet(body, ip_len, Ecn::NotEct)
    }
}

/// The segment in the body of a data packet.
pub(crate) const fn segment(body: &Body) -> Option<Data> {
    let Body::Data { seq, sent_at, len, syn, cwr, push } = *body else { return None };
    Some(Data { seq, len, sent_at, syn, cwr, push, ecn: Ecn::NotEct })
}

/// The ACK in the body of an ACK packet.
pub(crate) const fn acknowledgement(body: &Body) -> Option<Ack> {
    let Body::Ack { ack, echo, received_at, sack, window, flags } = *body else { return None };
    let (ece, dsack, syn) = (flags & ECE != 0, flags & DSACK != 0, flags & SYN != 0);
    Some(Ack { ack, sack, dsack, echo, received_at, ece, window: window as u64, syn })
}

impl Packet {
    pub(crate) const fn ip_len(&self) -> u16 {
        self.ip_len
    }
    /// Whether it travels from the server to the user.
    pub(crate) const fn is_to_user(&self) -> bool {
        self.side & TO_USER != 0
    }
    pub(crate) const fn is_marked(&self) -> bool {
        matches!(Ecn::of_class(self.tos), Ecn::Ce)
    }
}

/// The finalizer of SplitMix64: every input bit affects all output bits.
const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Queueable for BoxedPacket {
    fn len(&self) -> Bytes {
        Bytes(u64::from(self.0.ip_len))
    }
    fn ecn(&self) -> Ecn {
        Ecn::of_class(self.0.tos)
    }
    fn set_ce(&mut self) {
        self.0.tos = Ecn::Ce.in_class(self.0.tos);
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        mix(salt ^ (u64::from(self.flow) + 1))
    }
    /// Each flow has its own server.
    fn host_hash(&self, end: End, salt: u64) -> u64 {
        let is_user = (end == End::Source) == (self.side & TO_USER == 0);
        let host = if is_user { u64::from(self.side & !TO_USER) << 40 } else { u64::from(self.flow) + 1 };
        mix(salt ^ host)
    }
    fn dscp(&self) -> u8 {
        self.0.tos >> 2
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.0.tos = (dscp << 2) | (self.0.tos & 3);
    }
    fn pure_ack(&self) -> Option<PureAck> {
        let ack = acknowledgement(&self.body()).filter(|ack| !ack.syn)?;
        let absolute = |offset: u32| (ack.ack as u32).wrapping_add(offset);
        let mut sack = [(0, 0); 4];
        for (slot, range) in sack.iter_mut().zip(ack.sack.iter().filter(|range| range.start < range.end)) {
            *slot = (absolute(range.start), absolute(range.end));
        }
        Some(PureAck {
            connection: u64::from(self.flow),
            ack: ack.ack as u32,
            ecn_flags: u8::from(ack.ece),
            sack,
            // A clock of 1 ms, as in Linux.
            timestamp: Some((ack.received_at.as_nanos() / 1_000_000) as u32),
            // Never filter a D-SACK: no later ACK repeats it.
            other_options: ack.dsack,
        })
    }
}
