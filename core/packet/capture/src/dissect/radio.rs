//! 802.11 data frames, with or without radiotap. Source: IEEE 802.11 section 9; radiotap.org.
use super::layer::{Depth, Layer};
use super::link;
use crate::NotIp;
use crate::Packet;
use crate::order::take;

/// Bits of the two bytes of the frame control field.
mod control {
    pub(super) const KIND: u8 = 0x0c;
    pub(super) const DATA: u8 = 0x08;
    /// Data frame subtype: with a QoS control field.
    pub(super) const QOS: u8 = 0x80;
    /// Data frame subtype: without a body.
    pub(super) const NULL: u8 = 0x40;
    /// Second byte: to and from a distribution system, with a fourth address.
    pub(super) const BOTH_SYSTEMS: u8 = 0x03;
    pub(super) const PROTECTED: u8 = 0x40;
    /// In a QoS frame: with an HT control field.
    pub(super) const ORDER: u8 = 0x80;
}

/// Reported as the protocol of data frames without a body.
const NO_BODY: u16 = 0x0040;
const MANAGEMENT_OR_CONTROL: u16 = 0;

/// The driver's header has its length, and whether the body is padded to four bytes.
pub(super) fn radiotap(frame: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    let length = take(frame.stored, 2).map(u16::from_le_bytes).ok_or(NotIp::Cut)?;
    ieee802_11(frame.skip(usize::from(length))?, is_padded(frame.stored, usize::from(length)))
}

/// The bit in the flags field for padding between header and body.
fn is_padded(header: &[u8], length: usize) -> bool {
    const TIMER: u32 = 1;
    const FLAGS: u32 = 2;
    const MORE_WORDS: u32 = 1 << 31;
    const DATA_PAD: u8 = 0x20;
    let header = header.get(..length).unwrap_or_default();
    let word = |at| take(header, at).map(u32::from_le_bytes);
    let Some(present) = word(4).filter(|present| present & FLAGS != 0) else { return false };
    let (mut at, mut last) = (8, present);
    while last & MORE_WORDS != 0 {
        let Some(next) = word(at) else { return false };
        (at, last) = (at + 4, next);
    }
    if present & TIMER != 0 {
        // Eight bytes with 8-byte alignment.
        at = at.next_multiple_of(8) + 8;
    }
    header.get(at).is_some_and(|flags| flags & DATA_PAD != 0)
}

/// A data frame, from frame control on.
pub(super) fn ieee802_11(frame: Layer<'_>, padded: bool) -> Result<Packet<'_>, NotIp> {
    let (kind, flags) = (frame.byte(0)?, frame.byte(1)?);
    if kind & control::KIND != control::DATA {
        return Err(NotIp::Protocol(MANAGEMENT_OR_CONTROL));
    }
    if kind & control::NULL != 0 {
        return Err(NotIp::Protocol(NO_BODY));
    }
    if flags & control::PROTECTED != 0 {
        return Err(NotIp::Encrypted);
    }
    let mut length = if flags & control::BOTH_SYSTEMS == control::BOTH_SYSTEMS { 30 } else { 24 };
    let mut aggregated = false;
    if kind & control::QOS != 0 {
        const AGGREGATED: u8 = 0x80;
        aggregated = frame.byte(length)? & AGGREGATED != 0;
        length += if flags & control::ORDER != 0 { 6 } else { 2 };
    }
    if padded {
        length = length.next_multiple_of(4);
    }
    // The first packet of an aggregate, after its destination, source and length.
    let body = frame.skip(if aggregated { length + 14 } else { length })?;
    link::llc(body, Depth::NONE)
}
