//! Packets in order of arrival, each with its arrival time.
use crate::{Backlog, DropReason, Packet, Sink};
use alloc::collections::VecDeque;
use fathom_units::{Bytes, Duration, Time};

pub(crate) struct Stored<P> {
    pub(crate) packet: P,
    pub(crate) arrived: Time,
}

impl<P> Stored<P> {
    pub(crate) fn sojourn(&self, now: Time) -> Duration {
        now - self.arrived
    }
    #[inline]
    pub(crate) fn leave(self, now: Time) -> (P, Duration) {
        let sojourn = self.sojourn(now);
        (self.packet, sojourn)
    }
    pub(crate) fn drop_into(self, reason: DropReason, now: Time, sink: &mut impl Sink<P>) {
        let sojourn = self.sojourn(now);
        sink.dropped(self.packet, reason, sojourn, now);
    }
}

/// The FIFO storage that all disciplines build on.
pub(crate) struct Store<P> {
    packets: VecDeque<Stored<P>>,
    bytes: Bytes,
}

impl<P: Packet> Store<P> {
    pub(crate) const fn new() -> Self {
        Store { packets: VecDeque::new(), bytes: Bytes::ZERO }
    }
    pub(crate) fn push(&mut self, packet: P, now: Time) {
        self.bytes += packet.len();
        self.packets.push_back(Stored { packet, arrived: now });
    }
    pub(crate) fn pop(&mut self) -> Option<Stored<P>> {
        let stored = self.packets.pop_front()?;
        self.bytes -= stored.packet.len();
        Some(stored)
    }
    /// Removes the packet at `place`, counted from the head.
    pub(crate) fn remove(&mut self, place: usize) -> Option<Stored<P>> {
        let stored = self.packets.remove(place)?;
        self.bytes -= stored.packet.len();
        Some(stored)
    }
    /// Iterates from the head.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stored<P>> {
        self.packets.iter()
    }
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
    pub(crate) fn last(&self) -> Option<&Stored<P>> {
        self.packets.back()
    }
    pub(crate) fn head(&self) -> Option<&Stored<P>> {
        self.packets.front()
    }
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.packets.len() as u64 }
    }
}
