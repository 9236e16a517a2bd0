//! UDP. Source: RFC 768.
use crate::error::{WireError, need, u16_at};

/// Offsets of the fields.
mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const LENGTH: usize = 4;
    pub(super) const END: usize = 8;
}

const WHAT: &str = "UDP";

/// A view of a UDP datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpDatagram<T> {
    bytes: T,
}

impl<T: AsRef<[u8]>> UdpDatagram<T> {
    /// Creates a view after checking header and length.
    ///
    /// # Errors
    /// What is invalid.
    pub fn new_checked(bytes: T) -> Result<Self, WireError> {
        need(WHAT, bytes.as_ref(), field::END)?;
        let length = usize::from(u16_at(bytes.as_ref(), field::LENGTH));
        if length < field::END {
            return Err(WireError::Malformed { what: WHAT, field: "length", value: length });
        }
        need(WHAT, bytes.as_ref(), length)?;
        Ok(UdpDatagram { bytes })
    }
    /// Source port.
    pub fn source_port(&self) -> u16 {
        u16_at(self.bytes.as_ref(), field::SOURCE_PORT)
    }
    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        u16_at(self.bytes.as_ref(), field::DESTINATION_PORT)
    }
    /// The payload.
    pub fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[field::END..usize::from(u16_at(self.bytes.as_ref(), field::LENGTH))]
    }
}
