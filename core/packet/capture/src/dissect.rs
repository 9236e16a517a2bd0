//! Finds the IP packet in a frame: in tunnels the innermost one.
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

/// Dissects the IP packet in a frame of `original_len` bytes, of which `bytes` are stored.
///
/// A packet truncated after the IP addresses is not an error: see [`crate::Transport`].
///
/// # Errors
/// The reason if there is no IP packet.
#[inline(always)]
pub fn dissect(link: LinkType, original_len: u32, bytes: &[u8]) -> Result<Packet<'_>, NotIp> {
    dissect_fast(link, original_len, bytes).map_or_else(|| any(link, layer(original_len, bytes)), Ok)
}

/// [`dissect`] for the most common packets (TCP directly in Ethernet or raw IP), otherwise `None`.
/// If inlined, and the packet is not passed to other functions, it stays in registers.
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
