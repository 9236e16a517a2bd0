//! pcap. Source: draft-ietf-opsawg-pcap.
use crate::format::MAX_STORED_BYTES;
use crate::order::{Order, take};
use crate::{CaptureError, Frame, LinkType, Step};

/// First four bytes of a file, as a number in its own byte order.
mod magic {
    pub(super) const MICROSECONDS: u32 = 0xa1b2_c3d4;
    pub(super) const NANOSECONDS: u32 = 0xa1b2_3c4d;
    /// Kuznetzov's patch to libpcap of the 1990s: eight bytes more per record, which are of no use here.
    pub(super) const MODIFIED: u32 = 0xa1b2_cd34;
}

/// Bytes of the file's header.
const FILE_HEADER: usize = 24;
/// Bytes of a record's header.
const RECORD_HEADER: usize = 16;
const MODIFIED_HEADER: usize = 24;

/// A file's header, which says all about its records.
#[derive(Clone, Debug)]
pub(crate) struct Pcap {
    order: Order,
    link: LinkType,
    /// Nanoseconds of one unit of a record's fraction.
    pub(crate) unit_ns: u32,
    record_header: usize,
    lengths_swapped: bool,
}

/// Whether a file that begins so is pcap.
pub(crate) fn is_pcap(begins: [u8; 4]) -> bool {
    order(begins).is_some()
}

fn order(begins: [u8; 4]) -> Option<(Order, u32)> {
    let known = [magic::MICROSECONDS, magic::NANOSECONDS, magic::MODIFIED];
    let both = [Order::Little, Order::Big].map(|order| (order, order.u32(begins)));
    both.into_iter().find(|(_, magic)| known.contains(magic))
}

impl Pcap {
    /// From the file's header and its length; `None` if there is too little of it.
    pub(crate) fn begin(bytes: &[u8]) -> Option<(Pcap, usize)> {
        let header: &[u8; FILE_HEADER] = bytes.first_chunk()?;
        let (order, found) = order(take(header, 0)?)?;
        let (major, minor) = (order.u16(take(header, 4)?), order.u16(take(header, 6)?));
        let modified = found == magic::MODIFIED;
        let pcap = Pcap {
            order,
            // Above are the length of the frame check sequence and reserved bits.
            link: LinkType(order.u32(take(header, 20)?) as u16),
            unit_ns: if found == magic::NANOSECONDS { 1 } else { 1000 },
            record_header: if modified { MODIFIED_HEADER } else { RECORD_HEADER },
            // Before version 2.4 it depended on the system which of the two lengths came first.
            lengths_swapped: major < 2 || (major == 2 && minor < 4),
        };
        Some((pcap, FILE_HEADER))
    }
    /// The first of `bytes` as a frame, with the bytes it used, if it is whole and no longer than it may be.
    #[inline]
    pub(crate) fn frame<'a>(&self, bytes: &'a [u8]) -> Option<(usize, Frame<'a>)> {
        let (head, stored, original) = self.lengths(bytes)?;
        let whole = self.record_header + stored as usize;
        let data = bytes.get(self.record_header..whole).filter(|data| data.len() <= MAX_STORED_BYTES)?;
        let word = |at: usize| self.order.u32([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let at = i64::from(word(0)) * 1_000_000_000 + i64::from(word(4)) * i64::from(self.unit_ns);
        let original_len = original.max(stored);
        let frame = Frame { at, link: self.link, original_len, interface: 0, lost_before: 0, bytes: data };
        Some((whole, frame))
    }
    /// A record's header, the bytes stored and the bytes sent.
    #[inline]
    fn lengths<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8; RECORD_HEADER], u32, u32)> {
        let head = bytes.first_chunk::<RECORD_HEADER>()?;
        let word = |at: usize| self.order.u32([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (stored, original) = (word(8), word(12));
        let is_swapped = stored > original && self.lengths_swapped;
        Some(if is_swapped { (head, original, stored) } else { (head, stored, original) })
    }
    /// What is there, where [`Pcap::frame`] found none.
    #[cold]
    pub(crate) fn step<'a>(&self, bytes: &[u8], offset: u64) -> Result<(usize, Step<'a>), CaptureError> {
        let Some((_, stored, _)) = self.lengths(bytes) else {
            return Ok((0, Step::NeedMore(RECORD_HEADER)));
        };
        if stored as usize > MAX_STORED_BYTES {
            return Err(too_long(offset, stored));
        }
        Ok((0, Step::NeedMore(self.record_header + stored as usize)))
    }
}

#[cold]
fn too_long(offset: u64, stored: u32) -> CaptureError {
    CaptureError::Damaged {
        offset,
        field: "captured length",
        value: u64::from(stored),
        bound: "at most",
        limit: MAX_STORED_BYTES as u64,
    }
}
