//! Passes packets from the line's thread to the writer: many per block, so that handovers are rare.
use std::iter;

/// Block size. A block is handed over when the next packet does not fit.
const BLOCK_BYTES: usize = 1 << 20;

/// Metadata of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// Time on the run's clock in nanoseconds.
    pub(crate) at_ns: u64,
    /// Index of the capture point.
    pub(crate) point: u32,
    /// Length of the packet on the wire.
    pub(crate) wire_bytes: u32,
    /// Stored bytes that follow.
    pub(crate) stored_bytes: u32,
}

impl Head {
    pub(crate) const BYTES: usize = 20;

    fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.at_ns.to_ne_bytes());
        let rest = [self.point, self.wire_bytes, self.stored_bytes];
        for (place, word) in bytes[8..].chunks_exact_mut(4).zip(rest) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
    fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let (mut at_ns, mut words) = ([0; 8], [0; 3]);
        at_ns.copy_from_slice(&bytes[..8]);
        for (word, place) in words.iter_mut().zip(bytes[8..].chunks_exact(4)) {
            *word = u32::from_ne_bytes([place[0], place[1], place[2], place[3]]);
        }
        let [point, wire_bytes, stored_bytes] = words;
        Head { at_ns: u64::from_ne_bytes(at_ns), point, wire_bytes, stored_bytes }
    }
}

/// A sequence of packets.
#[derive(Debug)]
pub(crate) struct Block(Vec<u8>);

impl Block {
    pub(crate) fn new() -> Self {
        Block(Vec::with_capacity(BLOCK_BYTES))
    }
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.0.len() + bytes <= BLOCK_BYTES
    }
    /// Adds a packet. Header and payload together have the length given in `head`.
    pub(crate) fn push(&mut self, head: Head, header: &[u8], payload: &[u8]) {
        self.0.extend_from_slice(&head.encode());
        self.0.extend_from_slice(header);
        self.0.extend_from_slice(payload);
    }
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
    /// All packets in order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (Head, &[u8])> {
        let mut rest = &self.0[..];
        iter::from_fn(move || {
            let (head, after) = rest.split_first_chunk()?;
            let head = Head::decode(*head);
            let (packet, after) = after.split_at_checked(head.stored_bytes as usize)?;
            rest = after;
            Some((head, packet))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_they_went_in() {
        let head = |at_ns, stored_bytes| Head { at_ns, point: 3, wire_bytes: 1500, stored_bytes };
        let mut block = Block::new();
        block.push(head(u64::MAX, 3), b"ab", b"c");
        block.push(head(7, 0), b"", b"");
        let packets: Vec<_> = block.packets().collect();
        assert_eq!(packets, [(head(u64::MAX, 3), &b"abc"[..]), (head(7, 0), b"")]);
        assert!(block.has_room(BLOCK_BYTES - 2 * Head::BYTES - 3));
        assert!(!block.has_room(BLOCK_BYTES - 2 * Head::BYTES - 2));
    }
}
