//! Fingerprints that identify a packet at every point of its path.
use core::net::IpAddr;
use fathom_capture::{Address, IcmpHeader, Packet, TcpHeader, Transport, UdpHeader};

/// A captured packet, reduced to what the analysis needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketMark {
    /// Hash of fields that routers and NATs keep; the two highest bits are its [`Proof`].
    pub(crate) content: u64,
    /// Capture time, ns.
    pub(crate) at: i64,
    pub(crate) frame: u32,
    /// Hash of the two hosts; the lowest bit shows which of them sent the packet.
    pub(crate) pair: u32,
    /// Hashes of address and port of the sender and the receiver.
    pub(crate) ends: [u32; 2],
    pub(crate) ip_bytes: u32,
    /// IPv4 identification; 0 if there is none.
    pub(crate) identification: u16,
    pub(crate) hop_limit: u8,
    pub(crate) class: u8,
}

/// A flow: both ends, independent of direction.
pub(crate) type Flow = u64;

/// What equal contents prove if addresses and ports differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Proof {
    /// Nothing: no NAT forwards the packet, or it contains nothing unique.
    None = 0,
    /// Little: datagrams of one kind start with similar bytes.
    Weak = 1,
    /// Much: TCP sequence numbers are random.
    Strong = 2,
}

/// Protocol numbers (IANA); ICMP's is used for both versions.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// SYN flag (RFC 9293 section 3.1).
const SYN: u16 = 2;
/// Number of payload bytes that distinguish datagrams: they include request and packet numbers.
const PREFIX_BYTES: usize = 16;
/// Flags that do not change along a path: without ECE, CWR and AE, which some paths clear.
const STEADY_FLAGS: u16 = 0x3f;
/// Position of the proof in a content hash.
const PROOF_SHIFT: u32 = 62;
/// Odd numbers with as many ones as zeros: fractional parts of the square roots of 7, 11 and 13.
const MIX: [u64; 3] = [0xa54f_f53a_5f1d_36f1, 0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f];

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A 64-bit hash. Among ten million packets, a collision has a probability of three in a million.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn add(self, word: u64) -> Hash {
        Hash(fold(self.0 ^ word, MIX[1]) ^ MIX[2])
    }
    fn address(self, address: Address) -> Hash {
        self.add(address.bits() as u64).add((address.bits() >> 64) as u64)
    }
    fn bytes(self, bytes: &[u8]) -> Hash {
        bytes.chunks(8).fold(self.add(bytes.len() as u64), |hash, chunk| {
            hash.add(chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
        })
    }
    const fn finish(self) -> u64 {
        fold(self.0, MIX[0])
    }
}

/// Hash of both ends that is independent of direction, and whether the sender has the larger value.
fn unordered(from: u128, to: u128) -> (u64, bool) {
    let (low, high) = if from <= to { (from, to) } else { (to, from) };
    let hash =
        [low, high].into_iter().fold(Hash(MIX[0]), |hash, end| hash.add(end as u64).add((end >> 64) as u64));
    (hash.finish(), from > to)
}

/// Hash of a packet's connection, the same for both directions.
pub(crate) fn connection(packet: &Packet<'_>) -> u64 {
    let (from, to) = ports(&packet.transport).unwrap_or_default();
    let (hosts, _) = unordered(packet.source.bits(), packet.destination.bits());
    hosts ^ unordered(from.into(), to.into()).0
}

fn ports(transport: &Transport<'_>) -> Option<(u16, u16)> {
    match transport {
        Transport::Tcp(tcp) => Some((tcp.source_port, tcp.destination_port)),
        Transport::Udp(udp) => Some((udp.source_port, udp.destination_port)),
        _ => None,
    }
}

/// True for an ICMP echo request, false for a reply (RFC 792, RFC 4443).
fn echo(icmp: &IcmpHeader<'_>) -> Option<bool> {
    match (icmp.is_v6, icmp.kind) {
        (false, 8) | (true, 128) => Some(true),
        (false, 0) | (true, 129) => Some(false),
        _ => None,
    }
}

/// Hashes of both ends. An echo's identifier serves as port: NATs translate it like one.
fn ends(packet: &Packet<'_>) -> [u32; 2] {
    let (from, to) = match &packet.transport {
        Transport::Icmp(icmp) => {
            let [high, low, ..] = icmp.rest;
            let identifier = u16::from_be_bytes([high, low]);
            match echo(icmp) {
                Some(true) => (identifier, 0),
                Some(false) => (0, identifier),
                None => (0, 0),
            }
        }
        other => ports(other).unwrap_or_default(),
    };
    let end = |address: Address, port: u16| Hash(MIX[1]).address(address).add(port.into()).finish() as u32;
    [end(packet.source, from), end(packet.destination, to)]
}

fn tcp(hash: Hash, header: &TcpHeader<'_>) -> Hash {
    let flags = header.flags & STEADY_FLAGS;
    let is_syn = flags & SYN != 0;
    let numbers = u64::from(header.sequence) << 32 | u64::from(header.acknowledgement);
    let hash = hash.add(numbers).add(u64::from(flags) << 32 | u64::from(header.payload_bytes));
    let stamps = header.stamps.map_or(0, |stamps| u64::from(stamps.value) << 32 | u64::from(stamps.echo));
    // Routers lower the MSS in the options of a SYN, so its options are excluded. In other
    // segments, options distinguish duplicate ACKs by their SACK blocks.
    if is_syn { hash.add(stamps) } else { hash.add(stamps).bytes(header.options) }
}

fn udp(hash: Hash, header: &UdpHeader<'_>) -> Hash {
    let prefix = header.payload.get(..PREFIX_BYTES).unwrap_or(header.payload);
    hash.add(header.payload_bytes.into()).bytes(prefix)
}

fn icmp(hash: Hash, header: &IcmpHeader<'_>) -> Hash {
    let rest = u32::from_be_bytes(header.rest);
    // The identifier of an echo, in the upper half, is part of its ends.
    let kept = if echo(header).is_some() { rest & 0xffff } else { rest };
    let prefix = header.payload.get(..PREFIX_BYTES).unwrap_or(header.payload);
    hash.add(u64::from(header.kind) << 40 | u64::from(header.code) << 32 | u64::from(kept)).bytes(prefix)
}

/// Content hash; `None` if the packet contains nothing unique.
fn content(packet: &Packet<'_>) -> Option<u64> {
    let start = |number: u8| Hash(MIX[1]).add(number.into());
    let (hash, proof) = match &packet.transport {
        Transport::Tcp(header) => (tcp(start(TCP), header), Proof::Strong),
        Transport::Udp(header) => (udp(start(UDP), header), Proof::Weak),
        Transport::Icmp(header) if echo(header).is_some() => (icmp(start(ICMP), header), Proof::Weak),
        Transport::Icmp(header) => (icmp(start(ICMP), header), Proof::None),
        // Only the identification distinguishes these packets.
        Transport::LaterFragment { protocol } | Transport::Other { protocol } => {
            packet.identification.filter(|id| *id != 0)?;
            (start(*protocol).add(packet.ip_bytes.into()), Proof::None)
        }
    };
    let proof = if is_to_one(packet) { proof } else { Proof::None };
    Some(hash.finish() >> (64 - PROOF_SHIFT) | (proof as u64) << PROOF_SHIFT)
}

/// Whether the packet is unicast. Multicast stays on its link, and all hosts send the same.
fn is_to_one(packet: &Packet<'_>) -> bool {
    match packet.destination.ip() {
        IpAddr::V4(ip) => !ip.is_multicast() && !ip.is_broadcast(),
        IpAddr::V6(ip) => !ip.is_multicast(),
    }
}

impl PacketMark {
    /// `None` if the packet contains nothing unique.
    pub(crate) fn of(packet: &Packet<'_>, times: fathom_flow::Times) -> Option<PacketMark> {
        let (hosts, greater) = unordered(packet.source.bits(), packet.destination.bits());
        Some(PacketMark {
            content: content(packet)?,
            at: times.at,
            frame: u32::try_from(times.frame).unwrap_or(u32::MAX),
            pair: (hosts as u32) << 1 | u32::from(greater),
            ends: ends(packet),
            ip_bytes: packet.ip_bytes,
            identification: packet.identification.unwrap_or(0),
            hop_limit: packet.hop_limit,
            class: packet.dscp << 2 | packet.ecn,
        })
    }
    /// Fingerprint: content, ends and identification.
    pub(crate) const fn fingerprint(&self) -> u64 {
        let [from, to] = self.ends;
        let ends = (from as u64) << 32 | to as u64;
        fold(fold(self.content ^ MIX[0], ends ^ MIX[1]) ^ MIX[2], self.identification as u64 ^ MIX[0])
    }
    /// Pair of hosts, independent of direction.
    pub(crate) const fn hosts(&self) -> u32 {
        self.pair >> 1
    }
    /// Direction: 1 if the host with the larger value sent it, otherwise 0.
    pub(crate) const fn sense(&self) -> usize {
        (self.pair & 1) as usize
    }
    pub(crate) fn flow(&self) -> Flow {
        let [from, to] = self.ends;
        u64::from(from.min(to)) << 32 | u64::from(from.max(to))
    }
    /// What equal content in another capture proves.
    pub(crate) const fn proof(&self) -> Proof {
        match self.content >> PROOF_SHIFT {
            0 => Proof::None,
            1 => Proof::Weak,
            _ => Proof::Strong,
        }
    }
}
