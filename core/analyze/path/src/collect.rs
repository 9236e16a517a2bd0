//! Packets of several captures, as many as memory is given for.
use crate::fingerprint::{PacketMark, connection};
use crate::result::{NoPath, PathReport};
use crate::split::{Sizes, pieces};
use fathom_flow::Times;
use alloc::vec::Vec;
use fathom_capture::{Packet, Transport};

/// How captures are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Packets that are kept, of all captures together, about 80 bytes each.
    pub limit: usize,
    /// All captures were stamped by one clock: delays are taken as they are.
    pub is_one_clock: bool,
}

impl Default for Settings {
    /// 4 Mi packets: about 320 MiB.
    fn default() -> Self {
        Settings { limit: 1 << 22, is_one_clock: false }
    }
}

/// One capture.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// In the order of the file, then in that of time.
    pub(crate) marks: Vec<PacketMark>,
    /// Packets offered, kept or not.
    pub(crate) packets: u64,
    pub(crate) unmarked: u64,
    pub(crate) super_packets: u64,
    sizes: Sizes,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Capture {
    fn new() -> Self {
        Capture {
            marks: Vec::new(),
            packets: 0,
            unmarked: 0,
            super_packets: 0,
            sizes: Sizes::new(),
            first: i64::MAX,
            last: i64::MIN,
        }
    }
}

/// Collects the packets of several captures, which may come one after the other or mixed.
#[derive(Clone, Debug)]
pub struct Captures {
    settings: Settings,
    captures: Vec<Capture>,
    kept: usize,
    /// Contents with one of these bits set are left out.
    mask: u64,
}

impl Captures {
    /// So many captures.
    pub fn new(count: usize, settings: Settings) -> Self {
        Captures { settings, captures: (0..count).map(|_| Capture::new()).collect(), kept: 0, mask: 0 }
    }
    /// A packet of capture number `capture`, from 0.
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
    /// Every second content of those left goes.
    #[cold]
    fn thin(&mut self) {
        self.mask = self.mask << 1 | 1;
        let mask = self.mask;
        self.captures.iter_mut().for_each(|capture| capture.marks.retain(|mark| mark.content & mask == 0));
        self.kept = self.captures.iter().map(|capture| capture.marks.len()).sum();
    }
    /// What they tell of the path.
    ///
    /// # Errors
    /// Captures without a packet in common.
    pub fn finish(mut self) -> Result<PathReport, NoPath> {
        // Frames of a file may be a little out of order, as several queues of a card fill it.
        self.captures.iter_mut().for_each(|capture| capture.marks.sort_by_key(|mark| mark.at));
        let renamed = crate::nat::unify(&mut self.captures);
        crate::result::report(&self.captures, &renamed, &self.settings, u64::from(self.mask.count_ones()))
    }
}
