//! The last data packets, by which copies that the network made are known.

/// So many are kept, as in tcptrace: copies come soon after one another.
const KEPT: usize = 8;

/// Sequence, identification and timestamp of the last data packets, in a ring.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentPackets {
    packets: [(u64, u16, u32); KEPT],
    next: u8,
}

impl RecentPackets {
    pub(crate) fn add(&mut self, start: u64, identification: u16, stamp: u32) {
        if let Some(place) = self.packets.get_mut(usize::from(self.next) % KEPT) {
            *place = (start, identification, stamp);
        }
        self.next = self.next.wrapping_add(1);
    }
    pub(crate) fn has(&self, start: u64, identification: u16, stamp: u32) -> bool {
        identification != 0 && self.packets.contains(&(start, identification, stamp))
    }
}
