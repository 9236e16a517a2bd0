//! Messages that an unprivileged ICMP socket receives: those to all programs of the host. Errors
//! are among them, with the packet that they are about (RFC 792, RFC 4443).
use crate::v6_at;
use core::net::{IpAddr, Ipv4Addr};

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Length of the header of IPv6.
const IPV6_BYTES: usize = 40;
/// The ICMP header of an error, before the packet that it quotes.
const HEADER_BYTES: usize = 8;

/// A message of IPv4, which arrives with its IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'b> {
    /// From the ICMP header on.
    pub message: &'b [u8],
    /// TTL.
    pub hop_limit: u8,
    /// DSCP and ECN field.
    pub class: u8,
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'b> {
    /// An echo reply.
    Reply,
    /// An error about an echo request: its type and code, where the request went, and as much of it
    /// as is quoted, from its ICMP header on.
    Error {
        /// Type of the message.
        icmp_type: u8,
        /// Code of the message.
        code: u8,
        /// Destination of the request.
        to: IpAddr,
        /// The request, from its ICMP header on.
        request: &'b [u8],
    },
}

/// Splits the IP header off. The kernel has changed the byte order of lengths in it (bsd/netinet,
/// `ip_input`), but not of what is read here.
pub fn split_v4(packet: &[u8]) -> Option<Packet<'_>> {
    let message = after_v4_header(packet)?;
    Some(Packet { message, hop_limit: *packet.get(8)?, class: packet[1] })
}

fn after_v4_header(packet: &[u8]) -> Option<&[u8]> {
    let first = *packet.first()?;
    let length = usize::from(first & 0x0f) * 4;
    (first >> 4 == 4 && length >= 20).then(|| packet.get(length..)).flatten()
}

/// `None` for what is neither a reply nor an error about an echo request.
pub fn kind(message: &[u8], is_ipv6: bool) -> Option<Kind<'_>> {
    let (icmp_type, code) = (*message.first()?, *message.get(1)?);
    match (icmp_type, is_ipv6) {
        (0, false) | (129, true) => return Some(Kind::Reply),
        // Unreachable, source quench, time exceeded, parameter problem.
        (3 | 4 | 11 | 12, false) | (1..=4, true) => {}
        _ => return None,
    }
    let quoted = message.get(HEADER_BYTES..)?;
    let (to, request) = if is_ipv6 { quoted_v6(quoted)? } else { quoted_v4(quoted)? };
    Some(Kind::Error { icmp_type, code, to, request })
}

fn quoted_v4(packet: &[u8]) -> Option<(IpAddr, &[u8])> {
    let request = after_v4_header(packet)?;
    let to: [u8; 4] = packet[16..20].try_into().ok()?;
    let is_echo = packet[9] == ICMP && request.first() == Some(&8);
    is_echo.then_some((Ipv4Addr::from(to).into(), request))
}

fn quoted_v6(packet: &[u8]) -> Option<(IpAddr, &[u8])> {
    let (to, request) = (v6_at(packet, 24)?, packet.get(IPV6_BYTES..)?);
    let is_echo = packet[0] >> 4 == 6 && packet[6] == ICMPV6 && request.first() == Some(&128);
    is_echo.then_some((to.into(), request))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time Exceeded of 198.51.100.1 about a request to 192.0.2.9. In its own header, the kernel
    /// has turned the length around, and subtracted the header from it.
    #[rustfmt::skip]
    const EXPIRED_V4: [u8; 56] = [
        0x45, 0x20, 36, 0, 0x12, 0x34, 0, 0, 62, 1, 0, 0, 198, 51, 100, 1, 10, 0, 0, 5,
        11, 0, 0, 0, 0, 0, 0, 0,
        0x45, 0, 0, 84, 0, 0, 0, 0, 1, 1, 0, 0, 10, 0, 0, 5, 192, 0, 2, 9,
        8, 0, 0xf7, 0xfb, 0x01, 0x02, 0x00, 0x03,
    ];
    /// The same of IPv6, which arrives without an IP header, about a request to 2001:db8::9.
    #[rustfmt::skip]
    const EXPIRED_V6: [u8; 56] = [
        3, 0, 0, 0, 0, 0, 0, 0,
        0x60, 0, 0, 0, 0, 8, 58, 1,
        0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5,
        0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9,
        128, 0, 0, 0, 1, 2, 0, 3,
    ];

    #[test]
    fn an_error_has_the_request_that_it_is_about() {
        let packet = split_v4(&EXPIRED_V4).unwrap();
        assert_eq!((packet.hop_limit, packet.class), (62, 0x20));
        let error = |icmp_type, to: &str, request| {
            Some(Kind::Error { icmp_type, code: 0, to: to.parse().unwrap(), request })
        };
        assert_eq!(kind(packet.message, false), error(11, "192.0.2.9", &EXPIRED_V4[48..]));
        assert_eq!(kind(&EXPIRED_V6, true), error(3, "2001:db8::9", &EXPIRED_V6[48..]));
    }

    #[test]
    fn an_error_about_something_else_is_none_of_ours() {
        // A UDP datagram.
        let mut udp = EXPIRED_V4;
        udp[28 + 9] = 17;
        assert_eq!(kind(&udp[20..], false), None);
        let mut neighbor = EXPIRED_V6;
        neighbor[48] = 135;
        assert_eq!(kind(&neighbor, true), None);
        // Redirect; echo request; router advertisement.
        for (first, is_ipv6) in [(5, false), (8, false), (128, true), (134, true)] {
            assert_eq!(kind(&[first; 100], is_ipv6), None);
        }
    }

    #[test]
    fn replies_and_headers_of_any_length() {
        assert_eq!(kind(&[0, 0, 0, 0], false), Some(Kind::Reply));
        assert_eq!(kind(&[129, 0, 0, 0], true), Some(Kind::Reply));
        let with_options = [&[0x46][..], &[0; 23], &[0, 0, 7]].concat();
        assert_eq!(split_v4(&with_options).unwrap().message, [0, 0, 7]);
        for (first, length) in [(0x65, 60), (0x44, 60), (0x46, 23)] {
            assert_eq!(split_v4(&alloc::vec![first; length]), None, "{first:x}, {length} bytes");
        }
        for length in 0..EXPIRED_V4.len() {
            let message = split_v4(&EXPIRED_V4[..length]).and_then(|packet| kind(packet.message, false));
            assert!(message.is_none() || length > 48, "{length} bytes");
            let _ = kind(&EXPIRED_V6[..length], true);
        }
    }
}
