//! IPv4 or IPv6, by the first four bits.
use crate::error::{WireError, need};
use crate::{Ipv4Packet, Ipv6Packet};
use core::net::IpAddr;

/// The ECN bits for congestion experienced. Source: RFC 3168 section 5.
pub const CE: u8 = 0b11;

/// A view of an IP packet of either version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpPacket<T> {
    /// IPv4.
    V4(Ipv4Packet<T>),
    /// IPv6.
    V6(Ipv6Packet<T>),
}

impl<T: AsRef<[u8]>> IpPacket<T> {
    /// Creates a view after checking the bytes for the version in their first four bits.
    ///
    /// # Errors
    /// What is invalid.
    pub fn new_checked(bytes: T) -> Result<Self, WireError> {
        need("IP", bytes.as_ref(), 1)?;
        match bytes.as_ref()[0] >> 4 {
            4 => Ipv4Packet::new_checked(bytes).map(IpPacket::V4),
            6 => Ipv6Packet::new_checked(bytes).map(IpPacket::V6),
            version => {
                Err(WireError::Malformed { what: "IP", field: "version", value: usize::from(version) })
            }
        }
    }
    /// A view of a header that was checked before.
    pub(crate) fn of_checked_header(bytes: T) -> Self {
        if bytes.as_ref()[0] >> 4 == 4 {
            IpPacket::V4(Ipv4Packet::of_header(bytes))
        } else {
            IpPacket::V6(Ipv6Packet::of_header(bytes))
        }
    }
    /// Length of the packet in bytes.
    pub fn total_len(&self) -> usize {
        match self {
            IpPacket::V4(p) => p.total_len(),
            IpPacket::V6(p) => p.total_len(),
        }
    }
    /// The two ECN bits.
    pub fn ecn(&self) -> u8 {
        match self {
            IpPacket::V4(p) => p.ecn(),
            IpPacket::V6(p) => p.ecn(),
        }
    }
    /// The six DSCP bits.
    pub fn dscp(&self) -> u8 {
        match self {
            IpPacket::V4(p) => p.dscp(),
            IpPacket::V6(p) => p.dscp(),
        }
    }
    /// Remaining hops.
    pub fn hop_limit(&self) -> u8 {
        match self {
            IpPacket::V4(p) => p.ttl(),
            IpPacket::V6(p) => p.hop_limit(),
        }
    }
    /// Source address.
    pub fn source(&self) -> IpAddr {
        match self {
            IpPacket::V4(p) => p.source().into(),
            IpPacket::V6(p) => p.source().into(),
        }
    }
    /// Destination address.
    pub fn destination(&self) -> IpAddr {
        match self {
            IpPacket::V4(p) => p.destination().into(),
            IpPacket::V6(p) => p.destination().into(),
        }
    }
    /// Protocol and offset of the transport header; `None` for fragments without one.
    pub fn transport(&self) -> Option<(u8, usize)> {
        match self {
            IpPacket::V4(p) => (!p.is_later_fragment()).then(|| (p.protocol(), p.header_len())),
            IpPacket::V6(p) => Some(p.transport()),
        }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> IpPacket<T> {
    /// Sets the ECN bits to CE.
    pub fn set_ce(&mut self) {
        match self {
            IpPacket::V4(p) => p.set_ce(),
            IpPacket::V6(p) => p.set_ce(),
        }
    }
    /// Sets the six DSCP bits and leaves the ECN bits unchanged.
    pub fn set_dscp(&mut self, dscp: u8) {
        match self {
            IpPacket::V4(p) => p.set_dscp(dscp),
            IpPacket::V6(p) => p.set_dscp(dscp),
        }
    }
    /// Reduces the hop limit by `hops`, at least to zero.
    pub fn decrement_hop_limit(&mut self, hops: u8) {
        match self {
            IpPacket::V4(p) => p.decrement_ttl(hops),
            IpPacket::V6(p) => p.decrement_hop_limit(hops),
        }
    }
}
