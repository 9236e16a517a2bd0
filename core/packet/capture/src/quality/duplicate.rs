//! Detects packets captured twice: at two interfaces of a router, or by a port mirror.
use crate::{Frame, LinkType, Packet, TcpHeader, Transport};
use alloc::vec::Vec;

/// Number of remembered packets: the last 8192 in the sample. Copies follow much sooner.
const SLOTS: usize = 512;
/// One of this many packets is examined, selected by its numbers: both copies or neither.
const SAMPLED: u64 = 16;

/// 2^64 divided by the golden ratio, for multiplicative hashing.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Debug)]
pub(super) struct Duplicates {
    seen: [Seen; SLOTS],
    found: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    hash: u64,
    /// Interface and hop limit.
    place: u64,
}

impl Duplicates {
    pub(super) const fn new() -> Self {
        Duplicates { seen: [Seen { hash: 0, place: 0 }; SLOTS], found: 0 }
    }
    /// Estimate for all packets.
    pub(super) const fn count(&self) -> u64 {
        self.found * SAMPLED
    }
    /// Examines a packet if it is in the sample. True if it was seen before.
    #[inline]
    pub(super) fn tcp(&mut self, frame: &Frame<'_>, packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> bool {
        let numbers = tcp.sequence ^ tcp.acknowledgement.rotate_left(16);
        if numbers.wrapping_mul(SPREAD as u32) >> (32 - SAMPLED.ilog2()) != 0 {
            return false;
        }
        let is_identified = packet.identification.is_some_and(|id| id != 0);
        self.look(identity(packet, tcp), place(frame) << 8 | u64::from(packet.hop_limit), is_identified)
    }
    /// Equal packets are copies if they were seen at different places or have equal
    /// identifications. Otherwise, as in IPv6, it may be an ACK that the receiver sent twice.
    fn look(&mut self, hash: u64, place: u64, is_identified: bool) -> bool {
        let slot = hash as usize % SLOTS;
        let Some(seen) = self.seen.get_mut(slot) else { return false };
        let is_found = seen.hash == hash && (is_identified || seen.place != place);
        *seen = Seen { hash, place };
        self.found += u64::from(is_found);
        is_found
    }
}

/// The capturing interface, as far as known.
fn place(frame: &Frame<'_>) -> u64 {
    u64::from(frame.interface) << 24 ^ u64::from(place_of_header(frame))
}

/// The interface or direction in the pseudo-header of Linux's `any` device; 0 without one.
pub(crate) fn place_of_header(frame: &Frame<'_>) -> u32 {
    match (frame.link, frame.bytes) {
        (LinkType::LINUX_SLL2, [_, _, _, _, a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        // Only the direction.
        (LinkType::LINUX_SLL, [a, b, ..]) => u32::from(u16::from_be_bytes([*a, *b])),
        _ => 0,
    }
}

/// All recent packets, to detect their copies: for captures that contain some.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    buckets: Vec<[Seen; WAYS]>,
}

/// Entries per bucket; if it is full, the oldest is overwritten.
const WAYS: usize = 4;
/// Buckets for the last 65,536 packets, far more than a router queues between interfaces. 1 MiB.
const BUCKETS: usize = 1 << 14;

impl Copies {
    pub(super) fn new() -> Self {
        Copies { buckets: alloc::vec![[Seen { hash: 0, place: 0 }; WAYS]; BUCKETS] }
    }
    /// True if the packet was seen before at another place, or at the same place if the capture
    /// `is_mirrored`. Otherwise it was sent or duplicated in the network.
    pub(super) fn has(&mut self, frame: &Frame<'_>, packet: &Packet<'_>, is_mirrored: bool) -> bool {
        let place = place(frame) << 8 | u64::from(packet.hop_limit);
        let hash = match &packet.transport {
            Transport::Tcp(tcp) => identity(packet, tcp),
            _ => identity_of_other(packet),
        };
        let Some(bucket) = self.buckets.get_mut(hash as usize % BUCKETS) else { return false };
        match bucket.iter().position(|seen| seen.hash == hash) {
            Some(at) => {
                let is_one_packet = is_mirrored && packet.identification.is_some_and(|id| id != 0);
                is_one_packet || bucket.get(at).is_some_and(|seen| seen.place != place)
            }
            None => {
                bucket.rotate_right(1);
                bucket[0] = Seen { hash, place };
                false
            }
        }
    }
}

const fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(SPREAD).rotate_left(29)
}

/// Improves the low bits, which are the weakest of a product. Never 0, which means no packet.
fn finish(hash: u64) -> u64 {
    (hash ^ hash >> 32).max(1)
}

/// Bytes of payload that distinguish datagrams: they contain request and packet numbers.
const TOLD_BY_BYTES: usize = 16;

/// [`identity`] for packets other than TCP.
fn identity_of_other(packet: &Packet<'_>) -> u64 {
    let lengths = u64::from(packet.identification.unwrap_or(0)) << 32 | u64::from(packet.ip_bytes);
    let (kind, numbers, payload) = match &packet.transport {
        Transport::Udp(udp) => {
            (0, u32::from(udp.source_port) << 16 | u32::from(udp.destination_port), udp.payload)
        }
        Transport::Icmp(icmp) => (
            1 << 16 | u32::from(icmp.kind) << 8 | u32::from(icmp.code),
            u32::from_be_bytes(icmp.rest),
            icmp.payload,
        ),
        Transport::LaterFragment { protocol } | Transport::Other { protocol } => {
            (2 << 16 | u32::from(*protocol), 0, &[][..])
        }
        Transport::Tcp(_) => (3 << 16, 0, &[][..]),
    };
    // The order distinguishes the two directions.
    let ends = [packet.source, packet.destination]
        .map(|end| end.bits())
        .map(|bits| bits as u64 ^ (bits >> 64) as u64);
    let hash = ends.into_iter().fold(lengths, mix);
    let hash = mix(hash, u64::from(kind) << 32 | u64::from(numbers));
    let words = payload.get(..TOLD_BY_BYTES).unwrap_or(payload).chunks(8);
    let words = words.map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    finish(words.fold(hash, mix))
}

/// A hash of the fields that are equal in both copies; never 0.
#[inline]
fn identity(packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> u64 {
    let addresses = packet.source.bits() ^ packet.destination.bits().rotate_left(64);
    let ports = u64::from(tcp.source_port) << 48 | u64::from(tcp.destination_port) << 32;
    let identification = u64::from(packet.identification.unwrap_or(0)) << 16;
    let mut hash =
        mix(addresses as u64 ^ (addresses >> 64) as u64, ports | identification | u64::from(tcp.flags));
    hash = mix(hash, u64::from(tcp.sequence) << 32 | u64::from(tcp.acknowledgement));
    hash = mix(hash, u64::from(tcp.payload_bytes) << 16 | u64::from(tcp.window));
    if let Some(stamps) = tcp.stamps {
        hash = mix(hash, u64::from(stamps.value) << 32 | u64::from(stamps.echo));
    }
    finish(hash)
}
