//! From a frame to the IP packet in it: the innermost, where there are tunnels.
mod fast;
mod header;
mod ip;
mod layer;
pub(crate) mod link;
mod radio;
mod transport;
mod tunnel;

use crate::{LinkType, NotIp, Packet};
use layer::Layer;

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
