//! The last data packets, by which copies that the network made are known.

/// So many are kept, as in tcptrace: copies come soon after one another.
const KEPT: usize = 8;

/// The last data packets, in a ring: of sequence, identification and timestamp of each a number that no other has by chance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    packets: [u64; KEPT],
    next: u8,
}

/// The fractional part of the golden ratio, odd.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Identification and timestamp as they are; the sequence number spread over them.
const fn number(start: u64, identification: u16, stamp: u32) -> u64 {
    ((identification as u64) << 32 | stamp as u64) ^ start.wrapping_mul(SPREAD)
}

impl Recent {
    pub(crate) fn add(&mut self, start: u64, identification: u16, stamp: u32) {
        if let Some(place) = self.packets.get_mut(usize::from(self.next) % KEPT) {
            *place = number(start, identification, stamp);
        }
        self.next = self.next.wrapping_add(1);
    }
    pub(crate) fn has(&self, start: u64, identification: u16, stamp: u32) -> bool {
        identification != 0 && self.packets.contains(&number(start, identification, stamp))
    }
}
