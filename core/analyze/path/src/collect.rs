//! Collects packets of several captures in bounded memory.
use crate::analyze::analyze;
use crate::capture::{Capture, Settings};
use crate::fingerprint::{PacketMark, connection};
use crate::report::{NoPath, PathReport};
use crate::split::pieces;
use alloc::vec::Vec;
use fathom_capture::{Packet, Transport};
use fathom_flow::Times;

/// Collects packets of several captures, one after the other or interleaved.
#[derive(Clone, Debug)]
pub struct Captures {
    settings: Settings,
    captures: Vec<Capture>,
    kept: usize,
    /// Packets with any of these bits set in their content hash are omitted.
    mask: u64,
}

impl Captures {
    /// Creates a collector for `count` captures.
    pub fn new(count: usize, settings: Settings) -> Self {
        Captures { settings, captures: (0..count).map(|_| Capture::new()).collect(), kept: 0, mask: 0 }
    }
    /// Adds a packet of capture `capture`, counted from 0.
    pub fn packet(&mut self, capture: usize, packet: &Packet<'_>, times: Times) {
        let Some(own) = self.captures.get_mut(capture) else { return };
        own.packets += 1;
        own.first = own.first.min(times.at);
        own.last = own.last.max(times.at);
        let Transport::Tcp(tcp) = &packet.transport else { return self.keep(capture, packet, times) };
        let connection = connection(packet);
        own.sizes.learn(connection, tcp);
        let segment = own.sizes.segment(connection, packet, tcp);
        if tcp.payload_bytes <= segment {
            return self.keep(capture, packet, times);
        }
        own.super_packets += 1;
        pieces(packet, tcp, segment).for_each(|piece| self.keep(capture, &piece, times));
    }
    fn keep(&mut self, capture: usize, packet: &Packet<'_>, times: Times) {
        let Some(own) = self.captures.get_mut(capture) else { return };
        let Some(mark) = PacketMark::of(packet, times) else {
            own.unmarked += 1;
            return;
        };
        if mark.content & self.mask == 0 {
            own.marks.push(mark);
            self.kept += 1;
            if self.kept > self.settings.limit {
                self.thin();
            }
        }
    }
    /// Removes half of the remaining contents.
    #[cold]
    fn thin(&mut self) {
        self.mask = self.mask << 1 | 1;
        let mask = self.mask;
        self.captures.iter_mut().for_each(|capture| capture.marks.retain(|mark| mark.content & mask == 0));
        self.kept = self.captures.iter().map(|capture| capture.marks.len()).sum();
    }
    /// Analyzes the path.
    ///
    /// # Errors
    /// If the captures have no packet in common.
    pub fn finish(mut self) -> Result<PathReport, NoPath> {
        // Frames may be slightly out of order in a file filled by several queues of a network card.
        self.captures.iter_mut().for_each(|capture| capture.marks.sort_by_key(|mark| mark.at));
        let renamed = crate::nat::unify(&mut self.captures);
        analyze(&self.captures, &renamed, &self.settings, u64::from(self.mask.count_ones()))
    }
}
