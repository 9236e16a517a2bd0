//! What a packet is known by at every point of its path.
use fathom_capture::{Address, IcmpHeader, Packet, TcpHeader, Transport, UdpHeader};

/// What a middlebox between the captures changes, and what packets are therefore not known by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rewritten {
    /// Nothing but hop limit, DSCP and ECN.
    #[default]
    Nothing,
    /// Addresses and the identification of IPv4, by a NAT that keeps ports.
    Addresses,
    /// Ports, too. Which way a packet goes is then taken from its ports: the lower is the server's.
    Ports,
}

/// A packet of a capture, reduced to what the path's figures need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub(crate) fingerprint: u64,
    /// Nanoseconds of the capture's clock.
    pub(crate) at: i64,
    pub(crate) frame: u32,
    /// Hash of the two hosts, and in the lowest bit which of the two sent it.
    pub(crate) pair: u32,
    pub(crate) ip_bytes: u32,
    /// Hash of the two ports.
    pub(crate) ports: u16,
    pub(crate) hop_limit: u8,
    /// DSCP and ECN.
    pub(crate) class: u8,
}

/// Numbers of protocols (IANA), of which ICMP's stands for both versions.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The flag of the first segment (RFC 9293 section 3.1).
const SYN: u16 = 2;
/// Bytes of payload that tell datagrams apart: request and packet numbers stand there.
const TOLD_BY_BYTES: usize = 16;
/// The flags that no path changes: without ECE, CWR and AE, which a path that clears ECN may.
const STEADY_FLAGS: u16 = 0x3f;
/// Odd numbers with as many ones as zeros: the fractional parts of the square roots of 7, 11 and 13.
const MIX: [u64; 3] = [0xa54f_f53a_5f1d_36f1, 0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f];

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of 64 bits: among ten million packets two are alike by chance with a probability of three in a million.
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

/// Two ends of a packet, whatever they are known by: the same for both ways, and whether the sender is the greater.
fn unordered(from: u128, to: u128) -> (u64, bool) {
    let (low, high) = if from <= to { (from, to) } else { (to, from) };
    let hash =
        [low, high].into_iter().fold(Hash(MIX[0]), |hash, end| hash.add(end as u64).add((end >> 64) as u64));
    (hash.finish(), from > to)
}

/// A hash of a packet's connection, the same for both ways.
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

/// An echo request of either version, or anything else.
fn is_request(icmp: &IcmpHeader<'_>) -> bool {
    matches!((icmp.is_v6, icmp.kind), (false, 8) | (true, 128))
}

/// The pair of hosts and the way, as far as they are known by what is not rewritten. `None`: the way cannot be told.
fn pair(packet: &Packet<'_>, rewritten: Rewritten) -> Option<u32> {
    let (hash, greater) = match (rewritten, ports(&packet.transport), &packet.transport) {
        (Rewritten::Nothing, ..) => unordered(packet.source.bits(), packet.destination.bits()),
        (_, Some((from, to)), _) if from == to => return None,
        (Rewritten::Addresses, Some((from, to)), _) => unordered(from.into(), to.into()),
        (Rewritten::Ports, Some((from, to)), _) => {
            (Hash(MIX[0]).add(from.min(to).into()).finish(), from > to)
        }
        (_, None, Transport::Icmp(icmp)) => (MIX[0], is_request(icmp)),
        _ => return None,
    };
    Some((hash as u32) << 1 | u32::from(greater))
}

fn endpoints(hash: Hash, packet: &Packet<'_>, rewritten: Rewritten) -> Hash {
    let hash = if rewritten == Rewritten::Nothing {
        let id = packet.identification.map_or(u64::MAX, u64::from);
        hash.add(id).address(packet.source).address(packet.destination)
    } else {
        hash
    };
    match ports(&packet.transport) {
        Some((from, to)) if rewritten != Rewritten::Ports => hash.add(u64::from(from) << 16 | u64::from(to)),
        // The lower port is the server's, and stays.
        Some((from, to)) => hash.add(u64::from(from.min(to)) << 1 | u64::from(from > to)),
        None => hash,
    }
}

fn tcp(hash: Hash, header: &TcpHeader<'_>) -> Hash {
    let flags = header.flags & STEADY_FLAGS;
    let is_syn = flags & SYN != 0;
    let numbers = u64::from(header.sequence) << 32 | u64::from(header.acknowledgement);
    let hash = hash.add(numbers).add(u64::from(flags) << 32 | u64::from(header.payload_bytes));
    let stamps = header.stamps.map_or(0, |stamps| u64::from(stamps.value) << 32 | u64::from(stamps.echo));
    // Of a SYN's options routers lower the segment size. Those of others tell duplicate ACKs apart by what they acknowledge selectively.
    if is_syn { hash.add(stamps) } else { hash.add(stamps).bytes(header.options) }
}

fn udp(hash: Hash, header: &UdpHeader<'_>) -> Hash {
    let told_by = header.payload.get(..TOLD_BY_BYTES).unwrap_or(header.payload);
    hash.add(header.payload_bytes.into()).bytes(told_by)
}

fn icmp(hash: Hash, header: &IcmpHeader<'_>, rewritten: Rewritten) -> Hash {
    let rest = u32::from_be_bytes(header.rest);
    // The identifier of an echo, in the upper half, is what a NAT has in place of a port.
    let kept = if rewritten == Rewritten::Ports { rest & 0xffff } else { rest };
    let told_by = header.payload.get(..TOLD_BY_BYTES).unwrap_or(header.payload);
    hash.add(u64::from(header.kind) << 40 | u64::from(header.code) << 32 | u64::from(kept)).bytes(told_by)
}

fn fingerprint(packet: &Packet<'_>, rewritten: Rewritten) -> Option<u64> {
    let start = |number: u8| endpoints(Hash(MIX[1]).add(number.into()), packet, rewritten);
    let hash = match &packet.transport {
        Transport::Tcp(header) => tcp(start(TCP), header),
        Transport::Udp(header) => udp(start(UDP), header),
        Transport::Icmp(header) => icmp(start(ICMP), header, rewritten),
        // Nothing but the identification tells these apart.
        Transport::LaterFragment { protocol } | Transport::Other { protocol } => {
            packet.identification.filter(|id| *id != 0)?;
            start(*protocol).add(packet.ip_bytes.into())
        }
    };
    Some(hash.finish())
}

impl Mark {
    /// `None` if the packet has nothing by which to know it, or to know its way.
    pub(crate) fn of(packet: &Packet<'_>, times: crate::Times, rewritten: Rewritten) -> Option<Mark> {
        let ports = ports(&packet.transport).unwrap_or_default();
        Some(Mark {
            fingerprint: fingerprint(packet, rewritten)?,
            at: times.at,
            frame: u32::try_from(times.frame).unwrap_or(u32::MAX),
            pair: pair(packet, rewritten)?,
            ip_bytes: packet.ip_bytes,
            ports: unordered(ports.0.into(), ports.1.into()).0 as u16,
            hop_limit: packet.hop_limit,
            class: packet.dscp << 2 | packet.ecn,
        })
    }
    /// Its pair of hosts, without the way.
    pub(crate) const fn hosts(&self) -> u32 {
        self.pair >> 1
    }
    /// Whether the greater of its hosts sent it: 0 or 1.
    pub(crate) const fn sense(&self) -> usize {
        (self.pair & 1) as usize
    }
}
