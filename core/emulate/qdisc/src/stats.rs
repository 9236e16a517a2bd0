//! Counters of one queue discipline.
use crate::{Backlog, DropReason, Packet};
use fathom_units::{Bytes, Duration};

/// A number of packets and their wire bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Count {
    /// Number of packets.
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

/// Counters since a queue was created: `arrived` = `sent` + [`Stats::dropped`] + backlog.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Packets offered to the queue, including dropped ones.
    pub arrived: Count,
    /// Packets handed to the link.
    pub sent: Count,
    /// Drops by reason, in the order of [`DropReason::ALL`].
    dropped: [Count; DropReason::ALL.len()],
    /// Packets marked CE; they are also in `sent` or still queued.
    pub marked: Count,
    /// Maximum bytes and maximum packets queued; each has its own time.
    pub max_backlog: Backlog,
    /// Longest sojourn of a packet that was sent.
    pub max_sojourn: Duration,
}

impl Stats {
    /// All drops.
    pub fn dropped(&self) -> Count {
        let sum = |a: Count, b: &Count| Count { packets: a.packets + b.packets, bytes: a.bytes + b.bytes };
        self.dropped.iter().fold(Count::default(), sum)
    }
    /// Drops for one reason.
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
