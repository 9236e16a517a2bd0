//! Why a frame holds no IP packet.
use crate::LinkType;
use core::fmt;

/// Headers around a packet, of tags and tunnels, that are taken off: far more than any network has, and an end for hostile files.
pub(crate) const MAX_WRAPPINGS: u8 = 16;

/// Why a frame holds no IP packet that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotIp {
    /// It is of another protocol, by EtherType or what stands for it (ARP: 0x0806).
    Protocol(u16),
    /// It is of a link type that is not known.
    Link(LinkType),
    /// Too little of it is stored to reach the IP addresses.
    Cut,
    /// A field before or in the IP header cannot be.
    Malformed,
    /// It is encrypted.
    Encrypted,
    /// There are more wrappings than are taken off.
    Deep,
}

impl fmt::Display for NotIp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotIp::Protocol(protocol) => write!(f, "protocol 0x{protocol:04x}"),
            NotIp::Link(LinkType(number)) => write!(f, "link type {number}, which is not known"),
            NotIp::Cut => write!(f, "cut before the IP addresses"),
            NotIp::Malformed => write!(f, "malformed"),
            NotIp::Encrypted => write!(f, "encrypted"),
            NotIp::Deep => write!(f, "more than {MAX_WRAPPINGS} wrappings"),
        }
    }
}
impl core::error::Error for NotIp {}
