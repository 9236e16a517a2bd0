//! The fixed parts of IP headers. Source: RFC 791 section 3.1, RFC 8200 section 3.
use crate::{Address, Packet, Transport};

pub(super) const V4_BYTES: usize = 20;
pub(super) const V6_BYTES: usize = 40;

/// Length of an IP packet, and of its frame.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) ip_bytes: u32,
    pub(super) wire_bytes: u32,
}

/// Creates an IPv4 packet from its header.
#[inline(always)]
pub(super) fn v4<'a>(head: &[u8; V4_BYTES], size: Size, transport: Transport<'a>) -> Packet<'a> {
    Packet {
        source: Address::v4([head[12], head[13], head[14], head[15]]),
        destination: Address::v4([head[16], head[17], head[18], head[19]]),
        hop_limit: head[8],
        dscp: head[1] >> 2,
        ecn: head[1] & 3,
        identification: Some(u16::from_be_bytes([head[4], head[5]])),
        ip_bytes: size.ip_bytes,
        wire_bytes: size.wire_bytes,
        transport,
    }
}

/// Creates an IPv6 packet from its header.
#[inline(always)]
pub(super) fn v6<'a>(head: &[u8; V6_BYTES], size: Size, transport: Transport<'a>) -> Packet<'a> {
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source.copy_from_slice(&head[8..24]);
    destination.copy_from_slice(&head[24..]);
    Packet {
        source: Address::v6(source),
        destination: Address::v6(destination),
        hop_limit: head[7],
        dscp: (head[0] & 0x0f) << 2 | head[1] >> 6,
        ecn: head[1] >> 4 & 3,
        identification: None,
        ip_bytes: size.ip_bytes,
        wire_bytes: size.wire_bytes,
        transport,
    }
}
