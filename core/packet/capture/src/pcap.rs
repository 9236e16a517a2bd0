//! The pcap format. Source: draft-ietf-opsawg-pcap.
use crate::frame::MAX_STORED_BYTES;
use crate::order::{Order, take};
use crate::{CaptureError, Frame, LinkType, Step};

/// The first four bytes, in the byte order of the file.
mod magic {
    pub(super) const MICROSECONDS: u32 = 0xa1b2_c3d4;
    pub(super) const NANOSECONDS: u32 = 0xa1b2_3c4d;
    /// Kuznetzov's libpcap patch of the 1990s: records have eight extra bytes, which are ignored.
    pub(super) const MODIFIED: u32 = 0xa1b2_cd34;
}

/// Length of the file header.
const FILE_HEADER: usize = 24;
/// Length of a record header.
const RECORD_HEADER: usize = 16;
const MODIFIED_HEADER: usize = 24;

/// The file header, which describes all records.
#[derive(Clone, Debug)]
pub(crate) struct Pcap {
    order: Order,
    link: LinkType,
    /// Unit of the fraction in a record header, in ns.
    pub(crate) unit_ns: u32,
    record_header: usize,
    lengths_swapped: bool,
    /// Record headers are little-endian with the lengths in the modern order.
    is_plain: bool,
}

/// True if a file with these first bytes is pcap.
pub(crate) fn is_pcap(begins: [u8; 4]) -> bool {
    order(begins).is_some()
}

fn order(begins: [u8; 4]) -> Option<(Order, u32)> {
    let known = [magic::MICROSECONDS, magic::NANOSECONDS, magic::MODIFIED];
    let both = [Order::Little, Order::Big].map(|order| (order, order.u32(begins)));
    both.into_iter().find(|(_, magic)| known.contains(magic))
}

impl Pcap {
    /// Parses the file header and returns its length; `None` if it is incomplete.
    pub(crate) fn begin(bytes: &[u8]) -> Option<(Pcap, usize)> {
        let header: &[u8; FILE_HEADER] = bytes.first_chunk()?;
        let (order, found) = order(take(header, 0)?)?;
        let (major, minor) = (order.u16(take(header, 4)?), order.u16(take(header, 6)?));
        let modified = found == magic::MODIFIED;
        // Before version 2.4 the order of the two lengths depended on the system.
        let lengths_swapped = major < 2 || (major == 2 && minor < 4);
        let pcap = Pcap {
            order,
            // The upper bits are the FCS length and reserved.
            link: LinkType(order.u32(take(header, 20)?) as u16),
            unit_ns: if found == magic::NANOSECONDS { 1 } else { 1000 },
            record_header: if modified { MODIFIED_HEADER } else { RECORD_HEADER },
            lengths_swapped,
            is_plain: order == Order::Little && !lengths_swapped,
        };
        Some((pcap, FILE_HEADER))
    }
    /// The frame at the start of `bytes` if it is complete and not too long, and the bytes used.
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
    /// The record header: seconds, fraction, stored and original length.
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
    /// Called if [`Pcap::frame`] found no frame.
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
        bound: "maximum",
        limit: MAX_STORED_BYTES as u64,
    }
}
