//! The most recent data packets, to detect copies made by the network.

/// Number of packets, as in tcptrace: copies follow soon after the original.
const KEPT: usize = 8;

/// Sequence number, identification and timestamp of recent data packets, in a ring buffer.
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
