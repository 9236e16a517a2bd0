//! Packets that a capture has twice: from two interfaces of a bridge or router, or from a mirror of both directions.
use crate::{Frame, LinkType, Packet, TcpHeader, Transport};
use alloc::vec::Vec;

/// Remembered packets. With one in [`SAMPLED`] looked at, the last 8192: a copy follows within far fewer.
const SLOTS: usize = 512;
/// Of so many packets one is looked at, by its numbers: both copies are, or neither.
const SAMPLED: u64 = 16;

/// 2^64 over the golden ratio: spreads whatever is multiplied by it.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Debug)]
pub(super) struct Duplicates {
    seen: [Seen; SLOTS],
    found: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    hash: u64,
    /// Where it was seen, and how many hops it had left.
    place: u64,
}

impl Duplicates {
    pub(super) const fn new() -> Self {
        Duplicates { seen: [Seen { hash: 0, place: 0 }; SLOTS], found: 0 }
    }
    /// Estimated over all packets.
    pub(super) const fn count(&self) -> u64 {
        self.found * SAMPLED
    }
    /// Looks at a packet, if it is one of those that are; whether it was there before.
    #[inline]
    pub(super) fn tcp(&mut self, frame: &Frame<'_>, packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> bool {
        let numbers = tcp.sequence ^ tcp.acknowledgement.rotate_left(16);
        if numbers.wrapping_mul(SPREAD as u32) >> (32 - SAMPLED.ilog2()) != 0 {
            return false;
        }
        let is_identified = packet.identification.is_some_and(|id| id != 0);
        self.look(identity(packet, tcp), place(frame) << 8 | u64::from(packet.hop_limit), is_identified)
    }
    /// A packet that is the same in all is a copy if it was seen elsewhere or has the same identification. Else, as with IPv6,
    /// it may be an ACK that the receiver really sent twice.
    fn look(&mut self, hash: u64, place: u64, is_identified: bool) -> bool {
        let slot = hash as usize % SLOTS;
        let Some(seen) = self.seen.get_mut(slot) else { return false };
        let is_found = seen.hash == hash && (is_identified || seen.place != place);
        *seen = Seen { hash, place };
        self.found += u64::from(is_found);
        is_found
    }
}

/// Which interface saw it, as far as the frame says.
fn place(frame: &Frame<'_>) -> u64 {
    u64::from(frame.interface) << 24 ^ u64::from(place_of_header(frame))
}

/// The same, as far as the header of Linux's `any` says; 0 without one.
pub(crate) fn place_of_header(frame: &Frame<'_>) -> u32 {
    match (frame.link, frame.bytes) {
        (LinkType::LINUX_SLL2, [_, _, _, _, a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        // Only whether it came or went.
        (LinkType::LINUX_SLL, [a, b, ..]) => u32::from(u16::from_be_bytes([*a, *b])),
        _ => 0,
    }
}

/// All of the packets that were seen last, so that copies of them are known: for captures in which there are copies.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    buckets: Vec<[Seen; WAYS]>,
}

/// Packets with hashes that are alike in part: of more, the oldest is forgotten.
const WAYS: usize = 4;
/// With [`WAYS`] of each the last 65,536 packets: what waits in a router between two interfaces is far less. 1 MiB.
const BUCKETS: usize = 1 << 14;

impl Copies {
    pub(super) fn new() -> Self {
        Copies { buckets: alloc::vec![[Seen { hash: 0, place: 0 }; WAYS]; BUCKETS] }
    }
    /// Whether the packet was seen before at another place; if the capture `is_mirrored`, at the same place too. Else it was sent twice
    /// there, or doubled by the network.
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

/// The low bits of a product are its weakest. Never 0, which is no packet.
fn finish(hash: u64) -> u64 {
    (hash ^ hash >> 32).max(1)
}

/// Bytes of payload that tell datagrams apart: request and packet numbers stand there.
const TOLD_BY_BYTES: usize = 16;

/// The same of what is not TCP.
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
    // Whether it goes or comes is in the order.
    let ends = [packet.source, packet.destination]
        .map(|end| end.bits())
        .map(|bits| bits as u64 ^ (bits >> 64) as u64);
    let hash = ends.into_iter().fold(lengths, mix);
    let hash = mix(hash, u64::from(kind) << 32 | u64::from(numbers));
    let words = payload.get(..TOLD_BY_BYTES).unwrap_or(payload).chunks(8);
    let words = words.map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    finish(words.fold(hash, mix))
}

/// A hash of what is the same in both copies; never 0.
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
