//! Counters of one queue discipline.
use crate::{Backlog, DropReason, Packet};
use fathom_units::{Bytes, Duration};

/// Packets and their wire bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Wire bytes.
    pub bytes: Bytes,
}

impl Count {
    /// Adds one packet of `len`.
    pub fn add(&mut self, len: Bytes) {
        self.packets += 1;
        self.bytes += len;
    }
}

/// What a queue discipline has done since it was made. `arrived` = `sent` + [`Stats::dropped`] + what it holds now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Offered to the queue, whether or not it had room.
    pub arrived: Count,
    /// Handed to the link.
    pub sent: Count,
    /// Dropped, by reason in the order of [`DropReason::ALL`].
    dropped: [Count; DropReason::ALL.len()],
    /// Marked CE; each of them is also in `sent` or still in the queue.
    pub marked: Count,
    /// Most bytes and most packets held, each at its own moment.
    pub max_backlog: Backlog,
    /// Longest sojourn of a packet that was sent.
    pub max_sojourn: Duration,
}

impl Stats {
    /// All drops, whatever the reason.
    pub fn dropped(&self) -> Count {
        let sum = |a: Count, b: &Count| Count { packets: a.packets + b.packets, bytes: a.bytes + b.bytes };
        self.dropped.iter().fold(Count::default(), sum)
    }
    /// Drops of one reason.
    pub fn dropped_for(&self, reason: DropReason) -> Count {
        self.dropped[reason as usize]
    }
    pub(crate) fn on_drop(&mut self, packet: &impl Packet, reason: DropReason) {
        self.dropped[reason as usize].add(packet.len());
    }
    pub(crate) fn on_backlog(&mut self, backlog: Backlog) {
        self.max_backlog.bytes = self.max_backlog.bytes.max(backlog.bytes);
        self.max_backlog.packets = self.max_backlog.packets.max(backlog.packets);
    }
    pub(crate) fn on_sent(&mut self, packet: &impl Packet, sojourn: Duration) {
        self.sent.add(packet.len());
        self.max_sojourn = self.max_sojourn.max(sojourn);
    }
}
