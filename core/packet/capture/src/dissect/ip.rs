//! IPv4 and IPv6. Source: RFC 791 section 3.1, RFC 8200 sections 3 and 4, RFC 2675 (jumbograms).
use super::header::{self, Size, V4_BYTES, V6_BYTES};
use super::layer::{Depth, Layer};
use super::transport;
use crate::NotIp;
use crate::{Packet, Transport};

/// Extension headers. Source: IANA IPv6 extension header types.
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const NO_NEXT_HEADER: u8 = 59;
    pub(super) const DESTINATION_OPTIONS: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
    pub(super) const HOST_IDENTITY: u8 = 139;
    pub(super) const SHIM6: u8 = 140;
}

/// Maximum number of extension headers; no sender uses so many.
const MAX_EXTENSIONS: usize = 16;
/// The 13 bits of the IPv4 fragment offset.
const OFFSET_MASK: u16 = 0x1fff;

/// Selects the version by the first four bits.
pub(super) fn either(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    match layer.byte(0)? >> 4 {
        4 => v4(layer, depth),
        6 => v6(layer, depth),
        _ => Err(NotIp::Malformed),
    }
}

pub(super) fn v4(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let Some(head) = layer.stored.first_chunk::<V4_BYTES>() else { return Err(NotIp::Cut) };
    let header = u32::from(head[0] & 0x0f) * 4;
    let ip_bytes = match u16::from_be_bytes([head[2], head[3]]) {
        // A super-packet captured before it was split: 64 kB and more (BIG TCP).
        0 => layer.sent,
        length => u32::from(length),
    };
    if head[0] >> 4 != 4 || header < V4_BYTES as u32 || ip_bytes < header {
        return Err(NotIp::Malformed);
    }
    let body = layer.body(header, ip_bytes);
    let is_later_fragment = u16::from_be_bytes([head[6], head[7]]) & OFFSET_MASK != 0;
    let transport = Transport::LaterFragment { protocol: head[9] };
    let packet = header::v4(head, Size { ip_bytes, wire_bytes: layer.sent }, transport);
    if is_later_fragment {
        return Ok(packet);
    }
    if head[9] == extension::AUTHENTICATION {
        let (protocol, rest) = authenticated(body).unwrap_or((extension::AUTHENTICATION, body));
        return transport::fill(packet, protocol, rest, depth);
    }
    transport::fill(packet, head[9], body, depth)
}

/// What follows an authentication header (RFC 4302); `None` if it is truncated.
fn authenticated(body: Layer<'_>) -> Option<(u8, Layer<'_>)> {
    let length = (usize::from(body.byte(1).ok()?) + 2) * 4;
    Some((body.byte(0).ok()?, body.skip(length).ok()?))
}

pub(super) fn v6(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let Some(head) = layer.stored.first_chunk::<V6_BYTES>() else { return Err(NotIp::Cut) };
    if head[0] >> 4 != 6 {
        return Err(NotIp::Malformed);
    }
    let ip_bytes = match u16::from_be_bytes([head[4], head[5]]) {
        0 if head[6] != extension::NO_NEXT_HEADER => long_v6(layer, head[6]),
        length => u32::from(length) + V6_BYTES as u32,
    };
    let body = layer.body(V6_BYTES as u32, ip_bytes);
    let transport = Transport::Other { protocol: head[6] };
    let packet = header::v6(head, Size { ip_bytes, wire_bytes: layer.sent }, transport);
    extended(packet, head[6], body, depth)
}

/// Length if the header says 0: of the jumbo option, else of the frame (BIG TCP without it).
fn long_v6(layer: Layer<'_>, next: u8) -> u32 {
    const JUMBO_AT_ONCE: [u8; 2] = [0xc2, 4];
    let option = layer.stored.get(V6_BYTES + 2..V6_BYTES + 8).and_then(|b| b.split_first_chunk::<2>());
    match option {
        Some((kind, length)) if next == extension::HOP_BY_HOP && *kind == JUMBO_AT_ONCE => {
            let length = length.first_chunk::<4>().map_or(0, |b| u32::from_be_bytes(*b));
            length.saturating_add(V6_BYTES as u32)
        }
        _ => layer.sent.max(V6_BYTES as u32),
    }
}

/// Skips extension headers. After a truncated one the rest is unknown.
fn extended<'a>(
    mut packet: Packet<'a>,
    first: u8,
    body: Layer<'a>,
    depth: Depth,
) -> Result<Packet<'a>, NotIp> {
    let (mut protocol, mut rest) = (first, body);
    for _ in 0..MAX_EXTENSIONS {
        let Some(length) = extension_bytes(protocol, rest) else { break };
        let fragment = (protocol == extension::FRAGMENT).then(|| rest.u16(2).unwrap_or(0) & 0xfff8);
        let (Ok(next), Ok(after)) = (rest.byte(0), rest.skip(length)) else {
            packet.transport = Transport::Other { protocol };
            return Ok(packet);
        };
        if fragment.is_some_and(|offset| offset != 0) {
            packet.transport = Transport::LaterFragment { protocol: next };
            return Ok(packet);
        }
        (protocol, rest) = (next, after);
    }
    transport::fill(packet, protocol, rest, depth)
}

/// Length of the extension header at the start of `rest`; `None` for other headers or if truncated.
fn extension_bytes(kind: u8, rest: Layer<'_>) -> Option<usize> {
    let length = || rest.byte(1).ok().map(usize::from);
    match kind {
        extension::HOP_BY_HOP
        | extension::ROUTING
        | extension::DESTINATION_OPTIONS
        | extension::MOBILITY
        | extension::HOST_IDENTITY
        | extension::SHIM6 => Some((length()? + 1) * 8),
        // In units of four bytes, minus two (RFC 4302 section 2.2).
        extension::AUTHENTICATION => Some((length()? + 2) * 4),
        extension::FRAGMENT => Some(8),
        _ => None,
    }
}
