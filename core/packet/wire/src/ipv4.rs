//! IPv4. Source: RFC 791 section 3.1, RFC 2474 and RFC 3168 for the second byte.
use crate::error::{WireError, need, put_u16, u16_at};
use crate::{CE, checksum};
use core::net::Ipv4Addr;

/// Offsets of the fields.
mod field {
    pub(super) const VERSION_AND_IHL: usize = 0;
    pub(super) const DSCP_AND_ECN: usize = 1;
    pub(super) const TOTAL_LENGTH: usize = 2;
    pub(super) const IDENTIFICATION: usize = 4;
    pub(super) const FLAGS_AND_OFFSET: usize = 6;
    pub(super) const TTL: usize = 8;
    pub(super) const PROTOCOL: usize = 9;
    pub(super) const CHECKSUM: usize = 10;
    pub(super) const SOURCE: usize = 12;
    pub(super) const DESTINATION: usize = 16;
    pub(super) const END: usize = 20;
}

const WHAT: &str = "IPv4";

/// A view of an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4Packet<T> {
    bytes: T,
}

impl<T: AsRef<[u8]>> Ipv4Packet<T> {
    /// Creates a view after checking version, header length and total length.
    ///
    /// # Errors
    /// The field that is invalid.
    pub fn new_checked(bytes: T) -> Result<Self, WireError> {
        let b = bytes.as_ref();
        need(WHAT, b, field::END)?;
        let malformed = |field, value| Err(WireError::Malformed { what: WHAT, field, value });
        let packet = Ipv4Packet { bytes };
        let (header, total) = (packet.header_len(), packet.total_len());
        match packet.bytes.as_ref()[field::VERSION_AND_IHL] >> 4 {
            4 => {}
            version => return malformed("version", usize::from(version)),
        }
        if header < field::END || header > total {
            return malformed("header length", header);
        }
        need(WHAT, packet.bytes.as_ref(), total)?;
        Ok(packet)
    }
    /// A view of a header only; do not use getters of data after the header.
    pub(crate) const fn of_header(bytes: T) -> Self {
        Ipv4Packet { bytes }
    }
    /// Length of the header in bytes, including options.
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes.as_ref()[field::VERSION_AND_IHL] & 0x0f) * 4
    }
    /// Length of the packet in bytes.
    pub fn total_len(&self) -> usize {
        usize::from(u16_at(self.bytes.as_ref(), field::TOTAL_LENGTH))
    }
    /// The two ECN bits.
    pub fn ecn(&self) -> u8 {
        self.bytes.as_ref()[field::DSCP_AND_ECN] & 0b11
    }
    /// The six DSCP bits.
    pub fn dscp(&self) -> u8 {
        self.bytes.as_ref()[field::DSCP_AND_ECN] >> 2
    }
    /// Identification.
    pub fn identification(&self) -> u16 {
        u16_at(self.bytes.as_ref(), field::IDENTIFICATION)
    }
    /// True for a fragment other than the first, which has no transport header.
    pub fn is_later_fragment(&self) -> bool {
        u16_at(self.bytes.as_ref(), field::FLAGS_AND_OFFSET) & 0x1fff != 0
    }
    /// Time to live, in hops.
    pub fn ttl(&self) -> u8 {
        self.bytes.as_ref()[field::TTL]
    }
    /// Protocol of the payload.
    pub fn protocol(&self) -> u8 {
        self.bytes.as_ref()[field::PROTOCOL]
    }
    /// Source address.
    pub fn source(&self) -> Ipv4Addr {
        address(self.bytes.as_ref(), field::SOURCE)
    }
    /// Destination address.
    pub fn destination(&self) -> Ipv4Addr {
        address(self.bytes.as_ref(), field::DESTINATION)
    }
    /// The payload.
    pub fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[self.header_len()..self.total_len()]
    }
    /// True if the header checksum is correct.
    pub fn checksum_is_right(&self) -> bool {
        checksum::of(&self.bytes.as_ref()[..self.header_len()]) == 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Ipv4Packet<T> {
    /// Sets the ECN bits to CE and updates the header checksum.
    pub fn set_ce(&mut self) {
        let ecn = self.ecn();
        self.change_word(0, |word| word + u16::from(CE - ecn));
    }
    /// Sets the six DSCP bits and updates the header checksum.
    pub fn set_dscp(&mut self, dscp: u8) {
        self.change_word(0, |word| word & !0x00fc | u16::from(dscp & 0x3f) << 2);
    }
    /// Reduces the time to live by `hops`, at least to zero, and updates the header checksum.
    pub fn decrement_ttl(&mut self, hops: u8) {
        let taken = u16::from(hops.min(self.ttl()));
        self.change_word(field::TTL, |word| word - (taken << 8));
    }
    /// Sets total length and identification, and updates the header checksum.
    pub(crate) fn set_lengths(&mut self, total: u16, identification: u16) {
        self.change_word(field::TOTAL_LENGTH, |_| total);
        self.change_word(field::IDENTIFICATION, |_| identification);
    }

    fn change_word(&mut self, at: usize, change: impl FnOnce(u16) -> u16) {
        let bytes = self.bytes.as_mut();
        let (before, sum) = (u16_at(bytes, at), u16_at(bytes, field::CHECKSUM));
        let after = change(before);
        put_u16(bytes, at, after);
        put_u16(bytes, field::CHECKSUM, checksum::update(sum, before, after));
    }
}

fn address(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

/// A header without options: DF, no fragment, given TTL. `total_len` includes the header.
pub(crate) fn header(
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    ttl: u8,
    total_len: u16,
) -> [u8; field::END] {
    let mut bytes = [0; field::END];
    bytes[field::VERSION_AND_IHL] = 0x45;
    put_u16(&mut bytes, field::TOTAL_LENGTH, total_len);
    put_u16(&mut bytes, field::FLAGS_AND_OFFSET, 0x4000);
    bytes[field::TTL] = ttl;
    bytes[field::PROTOCOL] = protocol;
    bytes[field::SOURCE..field::DESTINATION].copy_from_slice(&source.octets());
    bytes[field::DESTINATION..field::END].copy_from_slice(&destination.octets());
    let sum = checksum::of(&bytes);
    put_u16(&mut bytes, field::CHECKSUM, sum);
    bytes
}
