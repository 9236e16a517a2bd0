//! Observes the inside of the line.
use crate::packet::{BoxedPacket, Packet};
use alloc::vec::Vec;
use fathom_link::{Event, LinePosition, Router, Verdict};
use fathom_units::{Duration, PerDirection, Time};

/// Counts events on the line and keeps the longest sojourns.
pub(crate) struct Watch {
    /// Longest sojourn of each hop since the last query.
    longest: Vec<PerDirection<Option<Duration>>>,
    /// Drops per flow.
    pub(crate) dropped: Vec<u64>,
    pub(crate) marked: Vec<u64>,
    pub(crate) counted: Inside,
}

/// Packet counts by event inside the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Inside {
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
}

impl Watch {
    pub(crate) fn new(hops: usize) -> Self {
        let longest = alloc::vec![PerDirection::default(); hops];
        Watch { longest, dropped: Vec::new(), marked: Vec::new(), counted: Inside::default() }
    }
    /// Adds a flow.
    pub(crate) fn open(&mut self) {
        self.dropped.push(0);
        self.marked.push(0);
    }
    /// The longest sojourn at `position` since the last query.
    pub(crate) fn take_longest(&mut self, position: LinePosition) -> Option<Duration> {
        self.longest[position.hop][position.direction].take()
    }
}

/// Counts a packet of a flow; probes have no counters.
fn count(counters: &mut [u64], packet: &Packet) {
    if let Some(counter) = counters.get_mut(packet.flow as usize) {
        *counter += 1;
    }
}

impl Router<BoxedPacket> for Watch {
    fn arrive(&mut self, position: LinePosition, packet: &mut BoxedPacket, _: Time) -> Verdict<BoxedPacket> {
        // `END` never matches, because no line has that many routers.
        if usize::from(packet.leaves) == position.hop { Verdict::Leave } else { Verdict::Forward }
    }
    fn event(&mut self, position: LinePosition, event: Event<'_, BoxedPacket>, _: Time) {
        match event {
            Event::Dequeued { sojourn, .. } => {
                let longest = &mut self.longest[position.hop][position.direction];
                *longest = (*longest).max(Some(sojourn));
            }
            Event::Marked { packet, .. } => count(&mut self.marked, packet),
            Event::Dropped { packet, .. } => {
                self.counted.dropped += 1;
                count(&mut self.dropped, packet);
            }
            Event::Lost { .. } => self.counted.lost += 1,
            Event::Duplicated { .. } => self.counted.duplicated += 1,
        }
    }
}
