//! IP addresses as single integers.
use core::fmt;
use core::net::{IpAddr, Ipv6Addr};

/// An IP address as one integer, for fast flow lookups; IPv4 as `::ffff:a.b.c.d` (RFC 4291 section
/// 2.5.5.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(u128);

impl Address {
    /// From four bytes in network order.
    pub const fn v4(bytes: [u8; 4]) -> Self {
        Address(0xffff_0000_0000 | u32::from_be_bytes(bytes) as u128)
    }
    /// From sixteen bytes in network order.
    pub const fn v6(bytes: [u8; 16]) -> Self {
        Address(u128::from_be_bytes(bytes))
    }
    /// The sixteen bytes as an integer.
    pub const fn bits(self) -> u128 {
        self.0
    }
    /// From the sixteen bytes as an integer.
    pub const fn from_bits(bits: u128) -> Self {
        Address(bits)
    }
    /// True for an IPv4 address.
    pub const fn is_v4(self) -> bool {
        self.0 >> 32 == 0xffff
    }
    /// Converts to the type of the standard library; mapped addresses become IPv4.
    pub fn ip(self) -> IpAddr {
        Ipv6Addr::from_bits(self.0).to_canonical()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}
