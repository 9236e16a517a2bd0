//! What is wrong with a capture, so that none of it is taken for the network's doing.
mod defects;
mod duplicate;

use crate::frame::MAX_NS;
use crate::{Address, Frame, LinkType, NotIp, Packet, Statistics, Transport};
use alloc::boxed::Box;
pub(crate) use duplicate::place_of_header;
use duplicate::{Copies, Duplicates};
use fathom_wire::{TcpOption, TcpOptions, flag, protocol};

/// Counts over the frames of one capture, in a few nanoseconds each.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Frames.
    pub frames: u64,
    /// Times of the first frame and of the last, ns.
    pub span: Option<(i64, i64)>,
    /// Bytes of the frames as they were sent. Not beside their count, as compilers add pairs by three times as many instructions.
    pub wire_bytes: u64,
    /// Frames without an IP packet that can be read, those below included.
    pub not_ip: u64,
    /// Of these, those that are encrypted.
    pub encrypted: u64,
    /// A link type that is not known, and frames of such types.
    pub unknown_link: Option<(LinkType, u64)>,
    /// Frames of which fewer bytes are stored than were sent.
    pub cut: u64,
    /// Of these, those where headers are cut, not payload alone.
    pub cut_headers: u64,
    /// Most bytes that are stored of a frame that was cut: the snapshot length.
    pub cut_at: usize,
    /// Frames that the capturing system says it lost.
    pub lost: u64,
    /// Steps back of the clock.
    pub steps_back: Steps,
    /// Frames that are stored a little after one that came later: as several CPUs take them in. No defect.
    pub disordered: Steps,
    /// Time without a frame.
    pub gaps: Steps,
    /// Steps either way by more than a year: the clock was set.
    pub leaps: Steps,
    /// Packets longer than any on the wire: captured before they were split, or after they were joined.
    pub super_packets: u64,
    /// The longest packet, bytes of IP.
    pub longest_bytes: u32,
    /// Interfaces that have frames: the highest number and one.
    pub interfaces: u32,
    /// Nanoseconds of the clock's unit, by the file; 0 if it does not say.
    pub resolution_ns: u64,
    /// Frames without a time.
    pub untimed: u64,
    /// By how much the clock leapt in all, ns.
    leapt: i64,
    duplicates: Duplicates,
    /// Once there is reason to look for copies.
    copies: Option<Box<Copies>>,
    /// Copies among the packets that [`Quality::is_copy`] was asked about.
    found_copies: u64,
    /// There may be copies, or some were found: each packet is looked up.
    is_searched: bool,
    /// Longer packets are super-packets, by the MSS that were offered; bytes of IP.
    limit: u32,
    has_mss: bool,
    off_milliseconds: bool,
}

/// Steps between two frames that are larger than they should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Steps {
    /// How many.
    pub count: u64,
    /// The largest, ns.
    pub largest_ns: u64,
    /// The frame after it.
    pub frame: u64,
}

/// No path has an MTU above this, but loopback: packets above it are super-packets where no MSS is seen. Bytes.
const MAX_MTU: u32 = 9216;
/// IPv6 and TCP; for IPv4 it is 20 bytes too lenient, which no super-packet is.
const HEADERS: u32 = 60;
/// Without a frame for so long, the capture was paused, or its clock was set. A busy line is never silent for so long.
const GAP_NS: u64 = 60_000_000_000;
/// A year: no capture waits for so long. A router without a battery begins in 1970, and is told the time later. ns.
const LEAP_NS: u64 = 366 * 86_400 * 1_000_000_000;
/// CPUs that take in frames side by side are less apart than this, even on a busy machine (1 ms was seen); clocks are stepped by more.
const DISORDER_NS: u64 = 5_000_000;
/// So many frames are searched for copies in any case: a capture that has none in them has none later.
const SEARCHED: u64 = 4096;
/// Duplicates below this share are chance.
const DUPLICATES_PER_MILLE: u64 = 5;
const MILLISECOND_NS: i64 = 1_000_000;

impl Default for Quality {
    fn default() -> Self {
        Quality::new()
    }
}

impl Quality {
    /// Before the first frame.
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
    /// Counts frame `number` and what was found in it.
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
        // Without a branch, as below: data is cut and ACKs are not, and which comes next is not to be foreseen.
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
    /// The time of the frame that was counted last, as if the clock had not leapt; from one frame to the next of a leap no time passes. ns.
    #[inline]
    pub fn steadied(&self, at: i64) -> i64 {
        if self.leapt == 0 { at } else { at.saturating_sub(self.leapt).clamp(-MAX_NS, MAX_NS) }
    }
    /// When the first frame and the last were captured, as if the clock had not leapt, ns; 0 without a frame.
    pub fn from_to(&self) -> (i64, i64) {
        let (first, last) = self.span.unwrap_or_default();
        (first, self.steadied(last))
    }
    /// Whether the capture has had this packet before, at another place of its path (another interface, or another hop limit; or once more by a
    /// mirror port): then it is to be left out, as it passed once. To be asked of each packet after [`Quality::frame`]. Captures of one interface are
    /// searched as long as there are copies.
    #[inline(always)]
    pub fn is_copy(&mut self, frame: &Frame<'_>, packet: &Packet<'_>) -> bool {
        // A copy, as what is given away is stored in memory: see [`crate::dissect_fast`].
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
    /// Takes what the capturing system counted: see [`Statistics`], of each interface the last.
    pub fn statistics(&mut self, counts: &[Statistics]) {
        for one in counts {
            let dropped = [one.dropped_by_interface, one.dropped_by_system];
            self.lost = dropped.into_iter().flatten().fold(self.lost, u64::saturating_add);
        }
    }
    /// Packets that are there twice, as from two interfaces of one path; counted over a sixteenth of them.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates.count()
    }
    /// Whether there are more than chance brings, as of a mirror port that gives each packet as it comes in and goes out.
    const fn has_duplicates(&self) -> bool {
        self.duplicates() * 1000 > self.frames * DUPLICATES_PER_MILLE
    }
    /// Nanoseconds of the unit in which the clock really counts: coarser than the file says, if all times are whole milliseconds.
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
    /// From one frame to the next the clock went back, or far.
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
            // Where payload is stored all before it is.
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

/// Whether TCP's `options` are not all of what its `headers` with those of IP, in bytes, leave for them. Extension headers would be taken for
/// options that are cut.
#[cold]
fn has_cut_options(source: Address, options: &[u8], headers: u32) -> bool {
    let least = if source.is_v4() { 40 } else { 60 };
    least + (options.len() as u32) < headers
}

/// Whether a packet of a frame that was cut has none of the headers of its protocol.
fn lacks_headers(transport: &Transport<'_>) -> bool {
    let known = [protocol::TCP, protocol::UDP, protocol::ICMP, protocol::ICMPV6];
    matches!(transport, Transport::Other { protocol } if known.contains(protocol))
}
