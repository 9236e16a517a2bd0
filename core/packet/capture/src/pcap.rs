//! pcap. Source: draft-ietf-opsawg-pcap.
use crate::frame::MAX_STORED_BYTES;
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
    /// A record's header is little-endian, with the lengths in the order of today.
    is_plain: bool,
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
        // Before version 2.4 it depended on the system which of the two lengths came first.
        let lengths_swapped = major < 2 || (major == 2 && minor < 4);
        let pcap = Pcap {
            order,
            // Above are the length of the frame check sequence and reserved bits.
            link: LinkType(order.u32(take(header, 20)?) as u16),
            unit_ns: if found == magic::NANOSECONDS { 1 } else { 1000 },
            record_header: if modified { MODIFIED_HEADER } else { RECORD_HEADER },
            lengths_swapped,
            is_plain: order == Order::Little && !lengths_swapped,
        };
        Some((pcap, FILE_HEADER))
    }
    /// The first of `bytes` as a frame, with the bytes it used, if it is whole and no longer than it may be.
    #[inline]
    pub(crate) fn frame<'a>(&self, bytes: &'a [u8]) -> Option<(usize, Frame<'a>)> {
        let [seconds, fraction, stored, original] = self.words(bytes)?;
        let whole = self.record_header + stored as usize;
        let data = bytes.get(self.record_header..whole).filter(|data| data.len() <= MAX_STORED_BYTES)?;
        let at = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * i64::from(self.unit_ns);
        let original_len = original.max(stored);
        let frame = Frame { at, link: self.link, original_len, interface: 0, lost_before: 0, bytes: data };
        Some((whole, frame))
    }
    /// A record's header: seconds, their fraction, the bytes stored and the bytes sent.
    #[inline]
    fn words(&self, bytes: &[u8]) -> Option<[u32; 4]> {
        let head = u128::from_le_bytes(*bytes.first_chunk::<RECORD_HEADER>()?);
        let mut words = [head, head >> 32, head >> 64, head >> 96].map(|word| word as u32);
        if !self.is_plain {
            self.normalize_header(&mut words);
        }
        Some(words)
    }
    fn normalize_header(&self, words: &mut [u32; 4]) {
        if self.order == Order::Big {
            *words = words.map(u32::swap_bytes);
        }
        if words[2] > words[3] && self.lengths_swapped {
            words.swap(2, 3);
        }
    }
    /// What is there, where [`Pcap::frame`] found none.
    #[cold]
    pub(crate) fn step<'a>(&self, bytes: &[u8], offset: u64) -> Result<(usize, Step<'a>), CaptureError> {
        let Some([_, _, stored, _]) = self.words(bytes) else {
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
