//! Defects of a capture, so that they are not attributed to the network.
mod defects;
mod duplicate;

use crate::frame::MAX_NS;
use crate::{Address, Frame, LinkType, NotIp, Packet, Statistics, Transport};
use alloc::boxed::Box;
pub(crate) use duplicate::place_of_header;
use duplicate::{Copies, Duplicates};
use fathom_wire::{TcpOption, TcpOptions, flag, protocol};

/// Counters over the frames of a capture; a few nanoseconds per frame.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Number of frames.
    pub frames: u64,
    /// Times of the first and the last frame, in ns.
    pub span: Option<(i64, i64)>,
    /// Sum of original frame lengths. Not next to `frames`: compilers would pair the additions.
    pub wire_bytes: u64,
    /// Frames without a readable IP packet, including the next two counts.
    pub not_ip: u64,
    /// Encrypted frames.
    pub encrypted: u64,
    /// The first unknown link type, and the number of frames with unknown types.
    pub unknown_link: Option<(LinkType, u64)>,
    /// Truncated frames.
    pub cut: u64,
    /// Frames truncated within their headers, not only in the payload.
    pub cut_headers: u64,
    /// Longest stored length of a truncated frame: the snapshot length.
    pub cut_at: usize,
    /// Frames that the capturing system reports as lost.
    pub lost: u64,
    /// Backward steps of the clock.
    pub steps_back: Steps,
    /// Frames stored slightly out of order because several CPUs receive them. Not a defect.
    pub disordered: Steps,
    /// Periods without a frame.
    pub gaps: Steps,
    /// Steps of more than a year in either direction: the clock was set.
    pub leaps: Steps,
    /// Packets longer than the MTU: captured before segmentation or after reassembly offload.
    pub super_packets: u64,
    /// Length of the longest IP packet.
    pub longest_bytes: u32,
    /// Number of interfaces: the highest number with a frame, plus one.
    pub interfaces: u32,
    /// Clock resolution according to the file, in ns; 0 if unknown.
    pub resolution_ns: u64,
    /// Frames without a timestamp.
    pub untimed: u64,
    /// Sum of the clock's leaps, in ns.
    leapt: i64,
    duplicates: Duplicates,
    /// Allocated when copies are searched.
    copies: Option<Box<Copies>>,
    /// Copies found by [`Quality::is_copy`].
    found_copies: u64,
    /// There may be copies, or some were found: every packet is checked.
    is_searched: bool,
    /// Longer IP packets are super-packets; follows from the MSS in handshakes.
    limit: u32,
    has_mss: bool,
    off_milliseconds: bool,
}

/// Irregular steps between two frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Steps {
    /// Number of steps.
    pub count: u64,
    /// The largest step, in ns.
    pub largest_ns: u64,
    /// Number of the frame after it.
    pub frame: u64,
}

/// Largest MTU except loopback, in bytes; used to detect super-packets without an observed MSS.
const MAX_MTU: u32 = 9216;
/// IPv6 and TCP headers. For IPv4 that is 20 bytes too many, less than any super-packet exceeds it.
const HEADERS: u32 = 60;
/// Without frames for this time the capture was paused or its clock set; lines are never so silent.
const GAP_NS: u64 = 60_000_000_000;
/// A year, in ns: no capture pauses for so long. Routers without a battery start in 1970.
const LEAP_NS: u64 = 366 * 86_400 * 1_000_000_000;
/// Parallel CPUs reorder frames by less than this (1 ms was observed); clocks step by more.
const DISORDER_NS: u64 = 5_000_000;
/// This many frames are always searched; if there is no copy in them, there is none later.
const SEARCHED: u64 = 4096;
/// Fewer duplicates than this are coincidence.
const DUPLICATES_PER_MILLE: u64 = 5;
const MILLISECOND_NS: i64 = 1_000_000;

impl Default for Quality {
    fn default() -> Self {
        Quality::new()
    }
}

impl Quality {
    /// Creates counters for a new capture.
    pub fn new() -> Self {
        Quality {
            frames: 0,
            wire_bytes: 0,
            span: None,
            not_ip: 0,
            encrypted: 0,
            unknown_link: None,
            cut: 0,
            cut_headers: 0,
            cut_at: 0,
            lost: 0,
            steps_back: Steps::default(),
            disordered: Steps::default(),
            gaps: Steps::default(),
            leaps: Steps::default(),
            super_packets: 0,
            longest_bytes: 0,
            interfaces: 0,
            resolution_ns: 0,
            untimed: 0,
            leapt: 0,
            duplicates: Duplicates::new(),
            copies: None,
            found_copies: 0,
            is_searched: false,
            limit: MAX_MTU,
            has_mss: false,
            off_milliseconds: false,
        }
    }
    /// Counts frame `number` and its dissection.
    #[inline(always)]
    pub fn frame(&mut self, number: u64, frame: &Frame<'_>, found: &Result<Packet<'_>, NotIp>) {
        self.frames += 1;
        self.wire_bytes += u64::from(frame.original_len);
        if frame.lost_before > 0 || frame.interface >= self.interfaces {
            self.lost += u64::from(frame.lost_before);
            self.interfaces = self.interfaces.max(frame.interface.saturating_add(1));
            self.is_searched |= self.interfaces > 1 || LinkType::COOKED.contains(&frame.link);
        }
        self.clock(number, frame.at);
        // Branchless, as below: data is truncated and ACKs are not, so branches are unpredictable.
        let cut = frame.bytes.len() < frame.original_len as usize;
        self.cut += u64::from(cut);
        if frame.bytes.len() > self.cut_at && cut {
            self.cut_at = frame.bytes.len();
        }
        match found {
            Ok(packet) => self.packet(frame, packet, cut),
            Err(error) => self.other(*error),
        }
    }
    /// Time of the last counted frame without the clock's leaps, in ns. Leaps take no time.
    #[inline]
    pub fn steadied(&self, at: i64) -> i64 {
        if self.leapt == 0 { at } else { at.saturating_sub(self.leapt).clamp(-MAX_NS, MAX_NS) }
    }
    /// Times of the first and last frame without the clock's leaps, in ns; 0 without frames.
    pub fn from_to(&self) -> (i64, i64) {
        let (first, last) = self.span.unwrap_or_default();
        (first, self.steadied(last))
    }
    /// True if the packet was captured before at another place on its path (another interface or
    /// hop limit, or again by a port mirror) and must be ignored. Call it for each packet after
    /// [`Quality::frame`]. Captures of one interface are searched only while there are copies.
    #[inline(always)]
    pub fn is_copy(&mut self, frame: &Frame<'_>, packet: &Packet<'_>) -> bool {
        // Cloned: what is passed to a function must be in memory, see [`crate::dissect_fast`].
        (self.frames <= SEARCHED || self.is_searched) && self.looks_for_copy(frame, &packet.clone())
    }
    #[inline(never)]
    fn looks_for_copy(&mut self, frame: &Frame<'_>, packet: &Packet<'_>) -> bool {
        let is_mirrored = self.has_duplicates();
        let is_copy =
            self.copies.get_or_insert_with(|| Box::new(Copies::new())).has(frame, packet, is_mirrored);
        self.found_copies += u64::from(is_copy);
        self.is_searched |= is_copy;
        is_copy
    }
    /// Adds the capturing system's counters, the last [`Statistics`] of each interface.
    pub fn statistics(&mut self, counts: &[Statistics]) {
        for one in counts {
            let dropped = [one.dropped_by_interface, one.dropped_by_system];
            self.lost = dropped.into_iter().flatten().fold(self.lost, u64::saturating_add);
        }
    }
    /// Number of duplicate packets, estimated from a sample of one sixteenth.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates.count()
    }
    /// True if there are more than by coincidence, as in a port mirror of both directions.
    const fn has_duplicates(&self) -> bool {
        self.duplicates() * 1000 > self.frames * DUPLICATES_PER_MILLE
    }
    /// Actual clock resolution in ns: coarser than in the file if all times are whole milliseconds.
    pub const fn true_resolution_ns(&self) -> u64 {
        if self.off_milliseconds || self.frames < 100 { self.resolution_ns } else { MILLISECOND_NS as u64 }
    }
    #[inline(always)]
    fn clock(&mut self, number: u64, at: i64) {
        if !self.off_milliseconds {
            self.off_milliseconds = at % MILLISECOND_NS != 0;
        }
        let (_, last) = self.span.get_or_insert((at, at));
        let before = core::mem::replace(last, at);
        if at < before || at.abs_diff(before) > GAP_NS {
            self.step(number, before, at);
        }
    }
    /// Records a backward or large step of the clock.
    #[cold]
    fn step(&mut self, number: u64, before: i64, at: i64) {
        let far = at.abs_diff(before);
        let steps = if far > LEAP_NS {
            self.leapt = self.leapt.saturating_add(at.saturating_sub(before));
            &mut self.leaps
        } else if at > before {
            &mut self.gaps
        } else if far > DISORDER_NS {
            &mut self.steps_back
        } else {
            &mut self.disordered
        };
        steps.add(far, number);
    }
    #[inline(always)]
    fn packet(&mut self, frame: &Frame<'_>, packet: &Packet<'_>, cut: bool) {
        if packet.ip_bytes > self.longest_bytes {
            self.longest_bytes = packet.ip_bytes;
        }
        self.super_packets += u64::from(packet.ip_bytes > self.limit);
        if let Transport::Tcp(tcp) = &packet.transport {
            // If payload is stored, so are the headers.
            if cut & tcp.payload.is_empty() {
                let headers = packet.ip_bytes - tcp.payload_bytes;
                self.cut_headers += u64::from(has_cut_options(packet.source, tcp.options, headers));
            }
            if tcp.flags & u16::from(flag::SYN) != 0 {
                self.handshake(tcp.options);
            }
            if self.duplicates.tcp(frame, packet, tcp) {
                self.is_searched = true;
            }
        } else if cut {
            self.cut_headers += u64::from(lacks_headers(&packet.transport));
        }
    }
    #[cold]
    fn handshake(&mut self, options: &[u8]) {
        for option in TcpOptions::new(options) {
            if let TcpOption::SegmentSize(bytes @ 1..) = option {
                let limit = u32::from(bytes) + HEADERS;
                self.limit = if self.has_mss { self.limit.max(limit) } else { limit };
                self.has_mss = true;
            }
        }
    }
    #[cold]
    fn other(&mut self, error: NotIp) {
        self.not_ip += 1;
        match error {
            NotIp::Cut => self.cut_headers += 1,
            NotIp::Encrypted => self.encrypted += 1,
            NotIp::Link(link) => {
                let (first, count) = self.unknown_link.unwrap_or((link, 0));
                self.unknown_link = Some((first, count + 1));
            }
            NotIp::Protocol(_) | NotIp::Malformed | NotIp::Deep => {}
        }
    }
}

impl Steps {
    fn add(&mut self, ns: u64, frame: u64) {
        self.count += 1;
        if ns > self.largest_ns {
            (self.largest_ns, self.frame) = (ns, frame);
        }
    }
}

/// True if `options` are shorter than what `headers`, the length of IP and TCP headers, leaves for
/// them. Extension headers would look like truncated options.
#[cold]
fn has_cut_options(source: Address, options: &[u8], headers: u32) -> bool {
    let least = if source.is_v4() { 40 } else { 60 };
    least + (options.len() as u32) < headers
}

/// True if a packet of a truncated frame lacks its protocol header.
fn lacks_headers(transport: &Transport<'_>) -> bool {
    let known = [protocol::TCP, protocol::UDP, protocol::ICMP, protocol::ICMPV6];
    matches!(transport, Transport::Other { protocol } if known.contains(protocol))
}
