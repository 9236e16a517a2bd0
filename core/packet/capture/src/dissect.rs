//! From a frame to the IP packet in it: the innermost, where there are tunnels.
mod fast;
mod ip;
mod layer;
pub(crate) mod link;
mod radio;
mod transport;
mod tunnel;

use crate::{LinkType, Packet};
use core::fmt;
use layer::Layer;

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

/// Headers around a packet, of tags and tunnels, that are taken off: far more than any network has, and an end for hostile files.
const MAX_WRAPPINGS: u8 = 16;

/// The IP packet in a frame of which `original_len` bytes were sent and `bytes` are stored.
///
/// What is missing at the end is never an error once the IP addresses are there: [`crate::Transport`] tells as much as can be told.
///
/// # Errors
/// Why there is none.
#[inline(always)]
pub fn dissect(link: LinkType, original_len: u32, bytes: &[u8]) -> Result<Packet<'_>, NotIp> {
    dissect_fast(link, original_len, bytes).map_or_else(|| any(link, layer(original_len, bytes)), Ok)
}

/// The same of packets as most are (TCP, with nothing but Ethernet around it); none of others. Where this is inlined, and the packet is given
/// to nothing that is not, it is never stored in memory.
#[inline(always)]
pub fn dissect_fast(link: LinkType, original_len: u32, bytes: &[u8]) -> Option<Packet<'_>> {
    fast::dissect_fast(link, layer(original_len, bytes))
}

#[inline(always)]
fn layer(original_len: u32, bytes: &[u8]) -> Layer<'_> {
    Layer { stored: bytes, sent: original_len.max(bytes.len() as u32) }
}

#[inline(never)]
fn any(link: LinkType, frame: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    let packet = link::any(link, frame)?;
    Ok(Packet { wire_bytes: frame.sent, ..packet })
}

/// How many wrappings are off.
#[derive(Clone, Copy, Debug)]
struct Depth(u8);

impl Depth {
    const NONE: Depth = Depth(0);

    fn deeper(self) -> Result<Depth, NotIp> {
        if self.0 >= MAX_WRAPPINGS { Err(NotIp::Deep) } else { Ok(Depth(self.0 + 1)) }
    }
}
