//! ICMP messages sent by routers. Source: RFC 792, RFC 1812 section 4.3.2, RFC 4443 section 3.3.
use crate::error::put_u16;
use crate::{IpPacket, checksum, ipv4, ipv6, protocol};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Time Exceeded, code 0 (in transit). Source: RFC 792.
const TIME_EXCEEDED_V4: u8 = 11;
/// Time Exceeded, code 0 (hop limit exceeded). Source: RFC 4443 section 3.3.
const TIME_EXCEEDED_V6: u8 = 3;
/// Type, code, checksum, and four unused bytes, before the quoted packet.
const HEADER_BYTES: usize = 8;
/// Maximum IPv4 error message. Source: RFC 1812 section 4.3.2.3.
const MAX_ERROR_V4_BYTES: usize = 576;
/// Maximum IPv6 error message: the minimum MTU. Source: RFC 4443 section 2.4 (c).
const MAX_ERROR_V6_BYTES: usize = 1280;
/// Hop limit of packets sent by a router. Source: RFC 1700, "default TTL".
const ROUTER_TTL: u8 = 64;

/// ICMPv6 types below this are errors. Source: RFC 4443 section 2.1.
const FIRST_INFORMATIONAL_V6: u8 = 128;

/// The Time Exceeded message that `router` sends for `packet`, quoting as much as allowed.
///
/// `None` if a router would not answer: ICMP errors, fragments other than the first, packets to or
/// from a multicast or unspecified address, and packets of a different IP version.
pub fn time_exceeded(router: IpAddr, packet: &[u8]) -> Option<Vec<u8>> {
    let ip = IpPacket::new_checked(packet).ok()?;
    if ip.destination().is_multicast() || ip.source().is_unspecified() || ip.source().is_multicast() {
        return None;
    }
    if is_error(&ip, packet) {
        return None;
    }
    let quotable = &packet[..ip.total_len()];
    match (router, ip.source()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Some(time_exceeded_v4(from, to, quotable)),
        (IpAddr::V6(from), IpAddr::V6(to)) => Some(time_exceeded_v6(from, to, quotable)),
        _ => None,
    }
}

fn is_error(ip: &IpPacket<&[u8]>, packet: &[u8]) -> bool {
    let Some((number, at)) = ip.transport() else { return true };
    match (number, packet.get(at)) {
        // Destination unreachable, source quench, redirect, time exceeded, parameter problem.
        (protocol::ICMP, Some(kind)) => matches!(kind, 3 | 4 | 5 | 11 | 12),
        (protocol::ICMPV6, Some(kind)) => *kind < FIRST_INFORMATIONAL_V6,
        _ => false,
    }
}

fn time_exceeded_v4(router: Ipv4Addr, to: Ipv4Addr, packet: &[u8]) -> Vec<u8> {
    let quote = &packet[..packet.len().min(MAX_ERROR_V4_BYTES - 20 - HEADER_BYTES)];
    let total = 20 + HEADER_BYTES + quote.len();
    let mut bytes = ipv4::header(router, to, protocol::ICMP, ROUTER_TTL, total as u16).to_vec();
    bytes.extend_from_slice(&[TIME_EXCEEDED_V4, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(quote);
    let sum = checksum::of(&bytes[20..]);
    put_u16(&mut bytes, 22, sum);
    bytes
}

fn time_exceeded_v6(router: Ipv6Addr, to: Ipv6Addr, packet: &[u8]) -> Vec<u8> {
    let quote = &packet[..packet.len().min(MAX_ERROR_V6_BYTES - 40 - HEADER_BYTES)];
    let length = HEADER_BYTES + quote.len();
    let mut bytes = ipv6::header(router, to, protocol::ICMPV6, ROUTER_TTL, length as u16).to_vec();
    bytes.extend_from_slice(&[TIME_EXCEEDED_V6, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(quote);
    let pseudo = checksum::pseudo_header(router.into(), to.into(), protocol::ICMPV6, length as u32);
    let sum = !checksum::fold(checksum::add(pseudo, &bytes[40..]));
    put_u16(&mut bytes, 42, sum);
    bytes
}
