//! Writes pcap with nanoseconds, in little-endian order.
use crate::{Frame, LinkType, MAX_STORED_BYTES};
use alloc::vec::Vec;

/// The header of a file with frames of type `link`. Source: draft-ietf-opsawg-pcap.
pub fn pcap_header(link: LinkType) -> [u8; 24] {
    const NANOSECONDS: u32 = 0xa1b2_3c4d;
    const VERSION_2_4: u32 = 2 | 4 << 16;
    let mut header = [0; 24];
    let words = [NANOSECONDS, VERSION_2_4, 0, 0, MAX_STORED_BYTES as u32, u32::from(link.0)];
    for (to, word) in header.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}

/// The header of a record with `stored` bytes. Times are clamped to 1970 through 2105.
pub fn pcap_record_header(at: i64, original_len: u32, stored: u32) -> [u8; 16] {
    const NS_PER_S: u64 = 1_000_000_000;
    let ns = u64::try_from(at).unwrap_or(0).min(u64::from(u32::MAX) * NS_PER_S + (NS_PER_S - 1));
    let mut header = [0; 16];
    let words = [(ns / NS_PER_S) as u32, (ns % NS_PER_S) as u32, stored, original_len];
    for (to, word) in header.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}

/// Appends a frame to `into`.
pub fn write_pcap(frame: &Frame<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(&pcap_record_header(frame.at, frame.original_len, frame.bytes.len() as u32));
    into.extend_from_slice(frame.bytes);
}
