//! IPv6. Source: RFC 8200 section 3, extension headers section 4; RFC 3168 for the ECN bits.
use crate::CE;
use crate::error::{WireError, need, put_u16, u16_at};
use core::net::Ipv6Addr;

/// Offsets of the fields. The traffic class straddles the first two bytes.
mod field {
    pub(super) const VERSION: usize = 0;
    pub(super) const CLASS_AND_LABEL: usize = 1;
    pub(super) const PAYLOAD_LENGTH: usize = 4;
    pub(super) const NEXT_HEADER: usize = 6;
    pub(super) const HOP_LIMIT: usize = 7;
    pub(super) const SOURCE: usize = 8;
    pub(super) const DESTINATION: usize = 24;
    pub(super) const END: usize = 40;
}

/// Extension headers. Source: IANA IPv6 extension header types.
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION_OPTIONS: u8 = 60;
}

const WHAT: &str = "IPv6";

/// A view of an IPv6 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv6Packet<T> {
    bytes: T,
}

impl<T: AsRef<[u8]>> Ipv6Packet<T> {
    /// Creates a view after checking version and payload length.
    ///
    /// # Errors
    /// The field that is invalid.
    pub fn new_checked(bytes: T) -> Result<Self, WireError> {
        let b = bytes.as_ref();
        need(WHAT, b, field::END)?;
        let version = b[field::VERSION] >> 4;
        if version != 6 {
            return Err(WireError::Malformed { what: WHAT, field: "version", value: usize::from(version) });
        }
        let packet = Ipv6Packet { bytes };
        need(WHAT, packet.bytes.as_ref(), packet.total_len())?;
        Ok(packet)
    }
    /// A view of a header only; do not use getters of data after the header.
    pub(crate) const fn of_header(bytes: T) -> Self {
        Ipv6Packet { bytes }
    }
    /// Length of the packet in bytes, including its header.
    pub fn total_len(&self) -> usize {
        field::END + usize::from(u16_at(self.bytes.as_ref(), field::PAYLOAD_LENGTH))
    }
    /// The two ECN bits.
    pub fn ecn(&self) -> u8 {
        self.bytes.as_ref()[field::CLASS_AND_LABEL] >> 4 & 0b11
    }
    /// The six DSCP bits, four in the first byte and two in the second.
    pub fn dscp(&self) -> u8 {
        let bytes = self.bytes.as_ref();
        (bytes[field::VERSION] & 0x0f) << 2 | bytes[field::CLASS_AND_LABEL] >> 6
    }
    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.bytes.as_ref()[field::HOP_LIMIT]
    }
    /// Source address.
    pub fn source(&self) -> Ipv6Addr {
        address(self.bytes.as_ref(), field::SOURCE)
    }
    /// Destination address.
    pub fn destination(&self) -> Ipv6Addr {
        address(self.bytes.as_ref(), field::DESTINATION)
    }
    /// Protocol and offset of the first header that is no extension header, or that does not fit.
    pub fn transport(&self) -> (u8, usize) {
        let bytes = &self.bytes.as_ref()[..self.total_len()];
        let (mut next, mut at) = (bytes[field::NEXT_HEADER], field::END);
        while let Some(length) = extension_len(next, &bytes[at..]) {
            if at + length > bytes.len() {
                break;
            }
            (next, at) = (bytes[at], at + length);
        }
        (next, at)
    }
}

/// Length of the extension header `kind` at the start of `bytes`; `None` if it cannot be skipped.
fn extension_len(kind: u8, bytes: &[u8]) -> Option<usize> {
    let length = usize::from(*bytes.get(1)?);
    match kind {
        extension::HOP_BY_HOP | extension::ROUTING | extension::DESTINATION_OPTIONS => Some((length + 1) * 8),
        // In units of four bytes, minus two (RFC 4302 section 2.2).
        extension::AUTHENTICATION => Some((length + 2) * 4),
        // Only in the first fragment does the transport header follow.
        extension::FRAGMENT if bytes.len() >= 8 && u16_at(bytes, 2) & 0xfff8 == 0 => Some(8),
        _ => None,
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Ipv6Packet<T> {
    /// Sets the ECN bits to CE.
    pub fn set_ce(&mut self) {
        self.bytes.as_mut()[field::CLASS_AND_LABEL] |= CE << 4;
    }
    /// Sets the six DSCP bits.
    pub fn set_dscp(&mut self, dscp: u8) {
        let bytes = self.bytes.as_mut();
        bytes[field::VERSION] = bytes[field::VERSION] & 0xf0 | dscp >> 2 & 0x0f;
        bytes[field::CLASS_AND_LABEL] = bytes[field::CLASS_AND_LABEL] & 0x3f | dscp << 6;
    }
    /// Reduces the hop limit by `hops`, at least to zero.
    pub fn decrement_hop_limit(&mut self, hops: u8) {
        let limit = self.hop_limit();
        self.bytes.as_mut()[field::HOP_LIMIT] = limit.saturating_sub(hops);
    }
    /// Sets the payload length.
    pub(crate) fn set_payload_len(&mut self, length: u16) {
        put_u16(self.bytes.as_mut(), field::PAYLOAD_LENGTH, length);
    }
}

fn address(bytes: &[u8], at: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&bytes[at..at + 16]);
    Ipv6Addr::from(octets)
}

/// A header with traffic class and flow label zero.
pub(crate) fn header(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    next: u8,
    hop_limit: u8,
    payload_len: u16,
) -> [u8; field::END] {
    let mut bytes = [0; field::END];
    bytes[field::VERSION] = 0x60;
    put_u16(&mut bytes, field::PAYLOAD_LENGTH, payload_len);
    bytes[field::NEXT_HEADER] = next;
    bytes[field::HOP_LIMIT] = hop_limit;
    bytes[field::SOURCE..field::DESTINATION].copy_from_slice(&source.octets());
    bytes[field::DESTINATION..field::END].copy_from_slice(&destination.octets());
    bytes
}
