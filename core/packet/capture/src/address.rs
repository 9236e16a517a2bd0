//! An IP address in one word.
use core::fmt;
use core::net::{IpAddr, Ipv6Addr};

/// An IP address of either version; of version 4 as `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2). One word, so that flows are found fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(u128);

impl Address {
    /// Of four bytes in network order.
    pub const fn v4(bytes: [u8; 4]) -> Self {
        Address(0xffff_0000_0000 | u32::from_be_bytes(bytes) as u128)
    }
    /// Of sixteen bytes in network order.
    pub const fn v6(bytes: [u8; 16]) -> Self {
        Address(u128::from_be_bytes(bytes))
    }
    /// The sixteen bytes as a number.
    pub const fn bits(self) -> u128 {
        self.0
    }
    /// Of the sixteen bytes as a number.
    pub const fn from_bits(bits: u128) -> Self {
        Address(bits)
    }
    /// Whether it is one of version 4.
    pub const fn is_v4(self) -> bool {
        self.0 >> 32 == 0xffff
    }
    /// As the standard library has it, version 4 as such.
    pub fn ip(self) -> IpAddr {
        Ipv6Addr::from_bits(self.0).to_canonical()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}
