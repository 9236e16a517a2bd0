//! Packets that a capture has twice: from two interfaces of a bridge or router, or from a mirror of both directions.
use crate::{Frame, LinkType, Packet, TcpHeader};

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
    #[inline]
    pub(super) fn tcp(&mut self, frame: &Frame<'_>, packet: &Packet<'_>, tcp: &TcpHeader<'_>) {
        let numbers = tcp.sequence ^ tcp.acknowledgement.rotate_left(16);
        if numbers.wrapping_mul(SPREAD as u32) >> (32 - SAMPLED.ilog2()) == 0 {
            self.look(identity(packet, tcp), frame, packet);
        }
    }
    /// A packet that is the same in all is a copy if it was seen elsewhere or has the same identification. Else, as with IPv6,
    /// it may be an ACK that the receiver really sent twice.
    fn look(&mut self, hash: u64, frame: &Frame<'_>, packet: &Packet<'_>) {
        let place = place(frame) << 8 | u64::from(packet.hop_limit);
        let slot = hash as usize % SLOTS;
        if let Some(seen) = self.seen.get_mut(slot) {
            let is_identified = packet.identification.is_some_and(|id| id != 0);
            if seen.hash == hash && (is_identified || seen.place != place) {
                self.found += 1;
            }
            *seen = Seen { hash, place };
        }
    }
}

/// Which interface saw it, as far as the frame says.
fn place(frame: &Frame<'_>) -> u64 {
    let of_header = match (frame.link, frame.bytes) {
        (LinkType::LINUX_SLL2, [_, _, _, _, a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        // Only whether it came or went.
        (LinkType::LINUX_SLL, [a, b, ..]) => u32::from(u16::from_be_bytes([*a, *b])),
        _ => 0,
    };
    u64::from(frame.interface) << 24 ^ u64::from(of_header)
}

/// A hash of what is the same in both copies; never 0.
fn identity(packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(SPREAD).rotate_left(29);
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
    // The low bits of a product are its weakest.
    (hash ^ hash >> 32).max(1)
}
