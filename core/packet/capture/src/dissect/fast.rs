//! The fast path for nearly all packets: Ethernet or raw IP, IP without options, TCP without
//! options or with timestamps first (RFC 7323 appendix A).
//!
//! Packets are built in one expression. Moving their parts would take half of the time.
use super::header::{self, Size, V4_BYTES, V6_BYTES};
use super::layer::Layer;
use crate::{LinkType, Packet, Stamps, TcpHeader, Transport};
use fathom_wire::protocol;

const ETHERNET: usize = 14;
const TCP: usize = 20;
const V4_TCP: usize = V4_BYTES + TCP;
const V6_TCP: usize = V6_BYTES + TCP;

/// The content of a frame with this EtherType, or of a raw IP frame.
#[inline(always)]
fn within<'a>(link: LinkType, frame: Layer<'a>, ethertype: [u8; 2]) -> Option<&'a [u8]> {
    match link {
        LinkType::ETHERNET => {
            let (head, rest) = frame.stored.split_first_chunk::<ETHERNET>()?;
            ([head[12], head[13]] == ethertype).then_some(rest)
        }
        LinkType::RAW => Some(frame.stored),
        _ => None,
    }
}

/// Dissects a packet of that kind with consistent lengths.
#[inline(always)]
pub(super) fn dissect_fast(link: LinkType, frame: Layer<'_>) -> Option<Packet<'_>> {
    match v4(link, frame) {
        None => v6(link, frame),
        found => found,
    }
}

#[inline(always)]
fn v4(link: LinkType, frame: Layer<'_>) -> Option<Packet<'_>> {
    let (head, rest) = within(link, frame, [0x08, 0x00])?.split_first_chunk::<V4_TCP>()?;
    // Not a later fragment, and TCP, with any hop limit: compared as one number.
    let fragment = u32::from_be_bytes([head[6], head[7], head[8], head[9]]) & 0x1fff_00ff;
    if head[0] != 0x45 || fragment != u32::from(protocol::TCP) {
        return None;
    }
    let total = u32::from(u16::from_be_bytes([head[2], head[3]]));
    let tcp = tcp(head.last_chunk()?, rest, total.checked_sub(V4_BYTES as u32)?)?;
    let size = Size { ip_bytes: total, wire_bytes: frame.sent };
    Some(header::v4(head.first_chunk()?, size, Transport::Tcp(tcp)))
}

#[inline(always)]
fn v6(link: LinkType, frame: Layer<'_>) -> Option<Packet<'_>> {
    let (head, rest) = within(link, frame, [0x86, 0xdd])?.split_first_chunk::<V6_TCP>()?;
    if head[0] >> 4 != 6 || head[6] != protocol::TCP {
        return None;
    }
    let length = u32::from(u16::from_be_bytes([head[4], head[5]]));
    let tcp = tcp(head.last_chunk()?, rest, length)?;
    let size = Size { ip_bytes: length + V6_BYTES as u32, wire_bytes: frame.sent };
    Some(header::v6(head.first_chunk()?, size, Transport::Tcp(tcp)))
}

/// Dissects a segment of `sent` bytes if its options are complete and common ones.
#[inline(always)]
fn tcp<'a>(head: &'a [u8; TCP], rest: &'a [u8], sent: u32) -> Option<TcpHeader<'a>> {
    let header = usize::from(head[12] >> 4) * 4;
    let (options, stored) = rest.split_at_checked(header.checked_sub(TCP)?)?;
    let payload_bytes = sent.checked_sub(header as u32)?;
    let stamps = match options {
        [] => None,
        [1, 1, 8, 10, v0, v1, v2, v3, e0, e1, e2, e3, ..] => Some(Stamps {
            value: u32::from_be_bytes([*v0, *v1, *v2, *v3]),
            echo: u32::from_be_bytes([*e0, *e1, *e2, *e3]),
        }),
        _ => return None,
    };
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    Some(TcpHeader {
        source_port: u16::from_be_bytes([head[0], head[1]]),
        destination_port: u16::from_be_bytes([head[2], head[3]]),
        sequence: word(4),
        acknowledgement: word(8),
        flags: u16::from(head[12] & 1) << 8 | u16::from(head[13]),
        window: u16::from_be_bytes([head[14], head[15]]),
        payload_bytes,
        stamps,
        options,
        // Padding of the frame may follow the packet.
        payload: stored.get(..payload_bytes as usize).unwrap_or(stored),
    })
}
