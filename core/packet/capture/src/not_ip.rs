//! Why a frame contains no IP packet.
use crate::LinkType;
use core::fmt;

/// Maximum number of tags and tunnels to remove: more than in real networks.
pub(crate) const MAX_WRAPPINGS: u8 = 16;

/// Why a frame contains no readable IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotIp {
    /// Another protocol, by EtherType or equivalent (ARP: 0x0806).
    Protocol(u16),
    /// An unknown link type.
    Link(LinkType),
    /// Truncated before the end of the IP addresses.
    Cut,
    /// A field before or in the IP header has an impossible value.
    Malformed,
    /// Encrypted.
    Encrypted,
    /// More tags and tunnels than are removed.
    Deep,
}

impl fmt::Display for NotIp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotIp::Protocol(protocol) => write!(f, "not IP: protocol 0x{protocol:04x}"),
            NotIp::Link(LinkType(number)) => write!(f, "unknown link type {number}"),
            NotIp::Cut => write!(f, "truncated before the IP addresses"),
            NotIp::Malformed => write!(f, "malformed header"),
            NotIp::Encrypted => write!(f, "encrypted"),
            NotIp::Deep => write!(f, "more than {MAX_WRAPPINGS} tags and tunnels"),
        }
    }
}
impl core::error::Error for NotIp {}
