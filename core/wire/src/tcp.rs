//! TCP. Source: RFC 9293 section 3.1.
use crate::error::{WireError, need, put_u16, u16_at};

/// Where each field begins.
mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const SEQUENCE: usize = 4;
    pub(super) const DATA_OFFSET: usize = 12;
    pub(super) const FLAGS: usize = 13;
    pub(super) const CHECKSUM: usize = 16;
    pub(super) const END: usize = 20;
}

/// Bits of [`TcpSegment::flags`].
pub(crate) mod flag {
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const PSH: u8 = 0x08;
    pub(crate) const CWR: u8 = 0x80;
}

/// Where the checksum is in the header.
pub(crate) const CHECKSUM_OFFSET: usize = field::CHECKSUM;

const WHAT: &str = "TCP";

/// A view over a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpSegment<T> {
    bytes: T,
}

impl<T: AsRef<[u8]>> TcpSegment<T> {
    /// A view, if the header fits the bytes.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new_checked(bytes: T) -> Result<Self, WireError> {
        need(WHAT, bytes.as_ref(), field::END)?;
        let segment = TcpSegment { bytes };
        let header = segment.header_len();
        if header < field::END {
            return Err(WireError::Malformed { what: WHAT, field: "data offset", value: header });
        }
        need(WHAT, segment.bytes.as_ref(), header)?;
        Ok(segment)
    }
    /// A view over a header that was checked before.
    pub(crate) const fn of_checked(bytes: T) -> Self {
        TcpSegment { bytes }
    }
    /// Source port.
    pub fn source_port(&self) -> u16 {
        u16_at(self.bytes.as_ref(), field::SOURCE_PORT)
    }
    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        u16_at(self.bytes.as_ref(), field::DESTINATION_PORT)
    }
    /// Sequence number.
    pub fn sequence(&self) -> u32 {
        let b = self.bytes.as_ref();
        let at = field::SEQUENCE;
        u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
    }
    /// Bytes of the header, options included.
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes.as_ref()[field::DATA_OFFSET] >> 4) * 4
    }
    /// Flags, CWR first and FIN last.
    pub fn flags(&self) -> u8 {
        self.bytes.as_ref()[field::FLAGS]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> TcpSegment<T> {
    pub(crate) fn set_sequence(&mut self, sequence: u32) {
        self.bytes.as_mut()[field::SEQUENCE..field::SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
    }
    pub(crate) fn clear_flags(&mut self, flags: u8) {
        self.bytes.as_mut()[field::FLAGS] &= !flags;
    }
    pub(crate) fn set_checksum(&mut self, checksum: u16) {
        put_u16(self.bytes.as_mut(), field::CHECKSUM, checksum);
    }
}
