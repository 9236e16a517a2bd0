//! What is seen inside the line.
use crate::packet::{Packet, Parcel};
use alloc::vec::Vec;
use fathom_link::{Event, Place, Router, Verdict};
use fathom_units::{Duration, Time};

/// Counts what the line does to packets, and keeps the longest sojourns.
pub(crate) struct Watch {
    /// Of each place since last asked, in the order of [`index`].
    longest: Vec<Option<Duration>>,
    /// Of each flow.
    pub(crate) dropped: Vec<u64>,
    pub(crate) marked: Vec<u64>,
    pub(crate) counted: Inside,
}

/// Packets by what became of them inside the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Inside {
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
}

pub(crate) const fn index(place: Place) -> usize {
    2 * place.hop + place.direction as usize
}

impl Watch {
    pub(crate) fn new(hops: usize) -> Self {
        let longest = alloc::vec![None; 2 * hops];
        Watch { longest, dropped: Vec::new(), marked: Vec::new(), counted: Inside::default() }
    }
    /// One more flow is watched.
    pub(crate) fn open(&mut self) {
        self.dropped.push(0);
        self.marked.push(0);
    }
    /// The longest sojourn at `place` since last asked.
    pub(crate) fn take_longest(&mut self, place: Place) -> Option<Duration> {
        self.longest[index(place)].take()
    }
}

/// Probes have no counters.
fn count(counters: &mut [u64], packet: &Packet) {
    if let Some(counter) = counters.get_mut(packet.flow as usize) {
        *counter += 1;
    }
}

impl Router<Parcel> for Watch {
    fn arrive(&mut self, place: Place, packet: &mut Parcel, _: Time) -> Verdict<Parcel> {
        // No line has as many routers as to reach the number that stands for its end.
        if usize::from(packet.leaves) == place.hop { Verdict::Leave } else { Verdict::Forward }
    }
    fn event(&mut self, place: Place, event: Event<'_, Parcel>, _: Time) {
        match event {
            Event::Dequeued { sojourn, .. } => {
                let longest = &mut self.longest[index(place)];
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
