//! The pcapng format. Source: draft-ietf-opsawg-pcapng.
use crate::frame::MAX_STORED_BYTES;
use crate::order::{Order, take};
use crate::pcapng_clock::Clock;
use crate::{CaptureError, Frame, LinkType, Statistics, Step};
use alloc::vec::Vec;

/// First four bytes of a file: the same in either byte order.
pub(crate) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Block types.
mod block {
    pub(super) const INTERFACE: u32 = 1;
    /// Obsolete, but used in old files.
    pub(super) const PACKET: u32 = 2;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const STATISTICS: u32 = 5;
    pub(super) const ENHANCED_PACKET: u32 = 6;
}

/// Block options.
mod option {
    pub(super) const INTERFACE_RESOLUTION: u16 = 9;
    pub(super) const INTERFACE_OFFSET: u16 = 14;
    pub(super) const STATISTICS_RECEIVED: u16 = 4;
    pub(super) const STATISTICS_DROPPED: u16 = 5;
    pub(super) const STATISTICS_DROPPED_BY_SYSTEM: u16 = 7;
    pub(super) const PACKET_DROPS: u16 = 4;
}

/// In a section header, in the byte order of the section.
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type and length before the body, length again after it.
const HEAD: usize = 8;
const TAIL: usize = 4;
/// Length of the fields before the data in enhanced (and obsolete) packet blocks.
const PACKET_FIELDS: usize = 20;
/// Longest block that is parsed: a packet, and room for its comments.
const MAX_BLOCK_BYTES: usize = MAX_STORED_BYTES + (64 << 10);
/// Maximum number of interfaces per section, to bound memory.
const MAX_INTERFACES: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    snaplen: u32,
    clock: Clock,
}

/// The state of a reader.
#[derive(Clone, Debug)]
pub(crate) struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    /// Number of interfaces in earlier sections.
    earlier_interfaces: u32,
    /// Bytes of a block that remain to be skipped.
    skip: u64,
    last_at: i64,
    /// Resolution of the coarsest clock so far, in ns.
    pub(crate) resolution_ns: u64,
    /// Packets without a timestamp.
    pub(crate) untimed: u64,
}

/// A complete block.
#[derive(Clone, Copy)]
struct Block<'a> {
    order: Order,
    offset: u64,
    body: &'a [u8],
}

impl<'a> Block<'a> {
    fn u16(&self, at: usize) -> Option<u16> {
        take(self.body, at).map(|b| self.order.u16(b))
    }
    fn u32(&self, at: usize) -> Option<u32> {
        take(self.body, at).map(|b| self.order.u32(b))
    }
    /// The block is shorter than the `fields` bytes that its type requires.
    #[cold]
    fn too_short(&self, fields: usize) -> CaptureError {
        let (length, least) = (self.body.len() + HEAD + TAIL, fields + HEAD + TAIL);
        damaged(self.offset, "block length", length as u64, "minimum", least as u64)
    }
    /// Options from `at` on, up to the first with an invalid length.
    fn options(self, at: usize) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = self.body.get(at..).unwrap_or_default();
        core::iter::from_fn(move || {
            let code = self.order.u16(take(rest, 0)?);
            let length = usize::from(self.order.u16(take(rest, 2)?));
            let value = rest.get(4..4 + length).filter(|_| code != 0)?;
            rest = rest.get(4 + padded(length)..).unwrap_or_default();
            Some((code, value))
        })
    }
}

const fn padded(length: usize) -> usize {
    (length + 3) & !3
}

#[cold]
const fn damaged(
    offset: u64,
    field: &'static str,
    value: u64,
    bound: &'static str,
    limit: u64,
) -> CaptureError {
    CaptureError::Damaged { offset, field, value, bound, limit }
}

impl Pcapng {
    pub(crate) const fn new() -> Self {
        Pcapng {
            order: Order::Little,
            interfaces: Vec::new(),
            earlier_interfaces: 0,
            skip: 0,
            last_at: 0,
            resolution_ns: 0,
            untimed: 0,
        }
    }
    #[inline]
    pub(crate) fn step<'a>(
        &mut self,
        bytes: &'a [u8],
        offset: u64,
    ) -> Result<(usize, Step<'a>), CaptureError> {
        if self.skip > 0 {
            return Ok(self.pass_over(bytes));
        }
        let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok((0, Step::NeedMore(HEAD))) };
        let kind = [head[0], head[1], head[2], head[3]];
        if kind == MAGIC {
            return self.section(bytes, offset);
        }
        let kind = self.order.u32(kind);
        let length = self.order.u32([head[4], head[5], head[6], head[7]]);
        let whole = block_bytes(offset, length)?;
        if !matches!(
            kind,
            block::INTERFACE
                | block::PACKET
                | block::SIMPLE_PACKET
                | block::STATISTICS
                | block::ENHANCED_PACKET
        ) {
            self.skip = whole as u64;
            return Ok(self.pass_over(bytes));
        }
        if whole > MAX_BLOCK_BYTES {
            return Err(damaged(offset, "block length", whole as u64, "maximum", MAX_BLOCK_BYTES as u64));
        }
        let Some(body) = bytes.get(HEAD..whole - TAIL).filter(|_| bytes.len() >= whole) else {
            return Ok((0, Step::NeedMore(whole)));
        };
        let found = Block { order: self.order, offset, body };
        Ok((whole, self.known(kind, found)?))
    }
    /// Skips the available part of an ignored block, which can have any length.
    fn pass_over<'a>(&mut self, bytes: &'a [u8]) -> (usize, Step<'a>) {
        let used = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        if used == 0 {
            return (0, Step::NeedMore(1));
        }
        self.skip -= used as u64;
        (used, Step::Other)
    }
    /// True if the file ends within a skipped block.
    pub(crate) const fn is_within_block(&self) -> bool {
        self.skip > 0
    }
    #[inline]
    fn known<'a>(&mut self, kind: u32, found: Block<'a>) -> Result<Step<'a>, CaptureError> {
        match kind {
            block::ENHANCED_PACKET => {
                let interface = found.u32(0).ok_or_else(|| found.too_short(PACKET_FIELDS))?;
                self.packet(found, interface, None)
            }
            block::PACKET => {
                let interface = found.u16(0).ok_or_else(|| found.too_short(PACKET_FIELDS))?;
                // All ones: unknown.
                let drops = found.u16(2).filter(|drops| *drops != u16::MAX);
                self.packet(found, u32::from(interface), drops)
            }
            block::SIMPLE_PACKET => self.simple_packet(found),
            block::INTERFACE => self.interface(found).map(|()| Step::Other),
            _ => self.statistics(found).map(Step::Statistics),
        }
    }
    fn section<'a>(&mut self, bytes: &'a [u8], offset: u64) -> Result<(usize, Step<'a>), CaptureError> {
        let (Some(length), Some(magic)) = (take(bytes, 4), take(bytes, 8)) else {
            return Ok((0, Step::NeedMore(HEAD + 4)));
        };
        let both = [Order::Little, Order::Big];
        let Some(order) = both.into_iter().find(|order| order.u32(magic) == BYTE_ORDER_MAGIC) else {
            let seen = u64::from(u32::from_be_bytes(magic));
            return Err(damaged(offset, "byte-order magic", seen, "expected", u64::from(BYTE_ORDER_MAGIC)));
        };
        let whole = block_bytes(offset, order.u32(length))?;
        self.order = order;
        self.earlier_interfaces = self.earlier_interfaces.saturating_add(self.interfaces.len() as u32);
        self.interfaces.clear();
        self.skip = whole as u64;
        Ok(self.pass_over(bytes))
    }
    fn interface(&mut self, found: Block<'_>) -> Result<(), CaptureError> {
        let (Some(link), Some(snaplen)) = (found.u16(0), found.u32(4)) else {
            return Err(found.too_short(8));
        };
        if self.interfaces.len() >= MAX_INTERFACES {
            let count = self.interfaces.len() as u64 + 1;
            return Err(damaged(found.offset, "interfaces", count, "maximum", MAX_INTERFACES as u64));
        }
        let mut clock = Clock::MICROSECONDS;
        let mut offset_s = 0;
        for (code, value) in found.options(8) {
            match code {
                option::INTERFACE_RESOLUTION => {
                    clock = value.first().and_then(|r| Clock::new(*r)).unwrap_or(clock);
                }
                option::INTERFACE_OFFSET => {
                    offset_s = take(value, 0).map_or(0, |b| found.order.u64(b) as i64)
                }
                _ => {}
            }
        }
        clock.offset_ns = offset_s.saturating_mul(1_000_000_000);
        self.resolution_ns = self.resolution_ns.max(clock.resolution_ns());
        self.interfaces.push(Interface { link: LinkType(link), snaplen, clock });
        Ok(())
    }
    fn interface_of(&self, found: &Block<'_>, number: u32) -> Result<Interface, CaptureError> {
        self.interfaces.get(number as usize).copied().ok_or_else(|| {
            let declared = self.interfaces.len() as u64;
            damaged(found.offset, "interface", u64::from(number), "interfaces declared:", declared)
        })
    }
    #[inline]
    fn packet<'a>(
        &mut self,
        found: Block<'a>,
        number: u32,
        drops: Option<u16>,
    ) -> Result<Step<'a>, CaptureError> {
        let Some((fields, rest)) = found.body.split_first_chunk::<PACKET_FIELDS>() else {
            return Err(found.too_short(PACKET_FIELDS));
        };
        let word = |at: usize| found.order.u32([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
        let interface = self.interface_of(&found, number)?;
        let (stored, original) = (word(12), word(16));
        let Some(data) = rest.get(..stored as usize) else {
            let room = rest.len() as u64;
            return Err(damaged(
                found.offset,
                "captured length",
                u64::from(stored),
                "space in the block:",
                room,
            ));
        };
        let at = interface.clock.ns(u64::from(word(4)) << 32 | u64::from(word(8)));
        self.last_at = at;
        let mut lost_before = drops.map_or(0, u32::from);
        // Most packets have no options.
        if rest.len() > padded(stored as usize) {
            lost_before = drops_in(&found, PACKET_FIELDS + padded(stored as usize)).unwrap_or(lost_before);
        }
        Ok(Step::Frame(Frame {
            at,
            link: interface.link,
            original_len: original.max(stored),
            interface: self.earlier_interfaces.saturating_add(number),
            lost_before,
            bytes: data,
        }))
    }
    /// A packet of the first interface with only a length.
    fn simple_packet<'a>(&mut self, found: Block<'a>) -> Result<Step<'a>, CaptureError> {
        let original = found.u32(0).ok_or_else(|| found.too_short(4))?;
        let interface = self.interface_of(&found, 0)?;
        let limit = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        let room = found.body.get(4..).unwrap_or_default();
        let data = room.get(..original.min(limit) as usize).unwrap_or(room);
        self.untimed += 1;
        Ok(Step::Frame(Frame {
            at: self.last_at,
            link: interface.link,
            original_len: original.max(data.len() as u32),
            interface: self.earlier_interfaces,
            lost_before: 0,
            bytes: data,
        }))
    }
    fn statistics(&self, found: Block<'_>) -> Result<Statistics, CaptureError> {
        let number = found.u32(0).ok_or_else(|| found.too_short(12))?;
        let interface = self.earlier_interfaces.saturating_add(number);
        let mut counts = Statistics { interface, ..Statistics::default() };
        for (code, value) in found.options(12) {
            let value = take(value, 0).map(|b| found.order.u64(b));
            match code {
                option::STATISTICS_RECEIVED => counts.received = value,
                option::STATISTICS_DROPPED => counts.dropped_by_interface = value,
                option::STATISTICS_DROPPED_BY_SYSTEM => counts.dropped_by_system = value,
                _ => {}
            }
        }
        Ok(counts)
    }
}

/// Bytes occupied by a block of this length.
#[inline]
fn block_bytes(offset: u64, length: u32) -> Result<usize, CaptureError> {
    if length < (HEAD + TAIL) as u32 {
        return Err(damaged(offset, "block length", u64::from(length), "minimum", (HEAD + TAIL) as u64));
    }
    // Some programs write lengths that are not a multiple of four, and pad.
    Ok(padded(length as usize))
}

#[cold]
fn drops_in(found: &Block<'_>, at: usize) -> Option<u32> {
    let (_, value) = found.options(at).find(|(code, _)| *code == option::PACKET_DROPS)?;
    Some(u32::try_from(found.order.u64(take(value, 0)?)).unwrap_or(u32::MAX))
}
