//! The way of nearly all packets: Ethernet, IP without options, TCP with nothing but timestamps (RFC 7323 appendix A).
//!
//! Written so that the packet is made in one piece: half of the time of a packet would be spent on moving its parts.
use crate::{Address, Packet, Stamps, TcpHeader, Transport};
use fathom_wire::protocol;

const ETHERNET: usize = 14;
const TCP_WITH_STAMPS: usize = 32;
const V4: usize = 20;
const V6: usize = 40;
const V4_BYTES: usize = ETHERNET + V4 + TCP_WITH_STAMPS;
const V6_BYTES: usize = ETHERNET + V6 + TCP_WITH_STAMPS;

/// The packet, if it is IPv4 of that kind and its lengths are as they should be.
#[inline]
pub(super) fn v4(sent: u32, bytes: &[u8]) -> Option<Packet<'_>> {
    let head = bytes.first_chunk::<V4_BYTES>()?;
    let total = u16::from_be_bytes([head[16], head[17]]);
    // EtherType, version and header length; neither a fragment nor one of several; enough for the headers.
    let is_plain = [head[12], head[13], head[14]] == [0x08, 0x00, 0x45]
        && [head[20] & 0x3f, head[21]] == [0, 0]
        && head[23] == protocol::TCP
        && usize::from(total) >= V4 + TCP_WITH_STAMPS;
    let tcp: &[u8; TCP_WITH_STAMPS] = head.last_chunk()?;
    if !is_plain || !has_stamps_alone(tcp) {
        return None;
    }
    let after = u32::from(total) - (V4 + TCP_WITH_STAMPS) as u32;
    Some(Packet {
        source: Address::v4([head[26], head[27], head[28], head[29]]),
        destination: Address::v4([head[30], head[31], head[32], head[33]]),
        hop_limit: head[22],
        dscp: head[15] >> 2,
        ecn: head[15] & 3,
        identification: Some(u16::from_be_bytes([head[18], head[19]])),
        ip_bytes: u32::from(total),
        wire_bytes: sent,
        transport: Transport::Tcp(header(tcp, &bytes[V4_BYTES..], after)),
    })
}

/// The packet, if it is IPv6 of that kind.
#[inline]
pub(super) fn v6(sent: u32, bytes: &[u8]) -> Option<Packet<'_>> {
    let head = bytes.first_chunk::<V6_BYTES>()?;
    let length = u16::from_be_bytes([head[18], head[19]]);
    let is_plain = [head[12], head[13], head[14] >> 4] == [0x86, 0xdd, 6]
        && head[20] == protocol::TCP
        && usize::from(length) >= TCP_WITH_STAMPS;
    let tcp: &[u8; TCP_WITH_STAMPS] = head.last_chunk()?;
    if !is_plain || !has_stamps_alone(tcp) {
        return None;
    }
    let after = u32::from(length) - TCP_WITH_STAMPS as u32;
    Some(Packet {
        source: Address::v6(*head[22..].first_chunk()?),
        destination: Address::v6(*head[38..].first_chunk()?),
        hop_limit: head[21],
        dscp: (head[14] & 0x0f) << 2 | head[15] >> 6,
        ecn: head[15] >> 4 & 3,
        identification: None,
        ip_bytes: u32::from(length) + V6 as u32,
        wire_bytes: sent,
        transport: Transport::Tcp(header(tcp, &bytes[V6_BYTES..], after)),
    })
}

#[inline]
fn has_stamps_alone(tcp: &[u8; TCP_WITH_STAMPS]) -> bool {
    tcp[12] >> 4 == 8 && [tcp[20], tcp[21], tcp[22], tcp[23]] == [1, 1, 8, 10]
}

#[inline]
fn header<'a>(tcp: &'a [u8; TCP_WITH_STAMPS], stored: &'a [u8], payload_bytes: u32) -> TcpHeader<'a> {
    let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    TcpHeader {
        source_port: u16::from_be_bytes([tcp[0], tcp[1]]),
        destination_port: u16::from_be_bytes([tcp[2], tcp[3]]),
        sequence: word(4),
        acknowledgement: word(8),
        flags: u16::from(tcp[12] & 1) << 8 | u16::from(tcp[13]),
        window: u16::from_be_bytes([tcp[14], tcp[15]]),
        payload_bytes,
        stamps: Some(Stamps { value: word(24), echo: word(28) }),
        options: &tcp[20..],
        // What follows the packet is padding of the frame.
        payload: stored.get(..payload_bytes as usize).unwrap_or(stored),
    }
}
