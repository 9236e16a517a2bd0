//! TCP. Source: RFC 9293 section 3.1.
use crate::TcpOptions;
use crate::error::{WireError, need, put_u16, u16_at};

/// Offsets of the fields.
mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const SEQUENCE: usize = 4;
    pub(super) const ACKNOWLEDGEMENT: usize = 8;
    pub(super) const DATA_OFFSET: usize = 12;
    pub(super) const FLAGS: usize = 13;
    pub(super) const CHECKSUM: usize = 16;
    pub(super) const END: usize = 20;
}

/// Bits of [`TcpSegment::flags`].
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronize: opens the connection.
    pub const SYN: u8 = 0x02;
    /// Reset: aborts the connection.
    pub const RST: u8 = 0x04;
    /// Push: deliver data to the application.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment number is valid.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer is valid.
    pub const URG: u8 = 0x20;
    /// ECN echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// Offset of the checksum in the header.
pub(crate) const CHECKSUM_OFFSET: usize = field::CHECKSUM;

const WHAT: &str = "TCP";

/// A view of a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpSegment<T> {
    bytes: T,
}

impl<T: AsRef<[u8]>> TcpSegment<T> {
    /// Creates a view after checking the header length.
    ///
    /// # Errors
    /// What is invalid.
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
    /// A view of a header that was checked before.
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
        self.u32_at(field::SEQUENCE)
    }
    /// Acknowledgment number; valid if [`flag::ACK`] is set.
    pub fn acknowledgement(&self) -> u32 {
        self.u32_at(field::ACKNOWLEDGEMENT)
    }
    fn u32_at(&self, at: usize) -> u32 {
        let b = self.bytes.as_ref();
        u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
    }
    /// Length of the header in bytes, including options.
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes.as_ref()[field::DATA_OFFSET] >> 4) * 4
    }
    /// Flags, CWR first and FIN last.
    pub fn flags(&self) -> u8 {
        self.bytes.as_ref()[field::FLAGS]
    }
    /// The four bits before the flags: three reserved, then NS (RFC 3540) or AE (RFC 9768).
    pub fn upper_flags(&self) -> u8 {
        self.bytes.as_ref()[field::DATA_OFFSET] & 0x0f
    }
    /// The options.
    pub fn options(&self) -> TcpOptions<'_> {
        TcpOptions::new(&self.bytes.as_ref()[field::END..self.header_len()])
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
