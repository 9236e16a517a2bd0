//! Control messages (`struct cmsghdr` of bsd/sys/socket.h): the length with this header in 4 bytes,
//! level and type in 4 bytes each, then the data. The next message starts at a multiple of 4.
use crate::{u32_at, v6_at};
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use fathom_units::WallTime;

const HEADER_BYTES: usize = 12;
/// Source: bsd/sys/socket.h.
const SOL_SOCKET: i32 = 0xffff;
const SCM_TIMESTAMP: i32 = 2;
/// Source: bsd/netinet/in.h.
pub const IPPROTO_IP: i32 = 0;
const IP_RECVTTL: i32 = 24;
/// `IP_PKTINFO`.
pub const IP_PKTINFO: i32 = 26;
const IP_RECVTOS: i32 = 27;
/// `IPPROTO_IPV6`.
pub const IPPROTO_IPV6: i32 = 41;
/// Source: bsd/netinet6/in6.h, with the options of RFC 3542.
pub const IPV6_TCLASS: i32 = 36;
/// `IPV6_PKTINFO`.
pub const IPV6_PKTINFO: i32 = 46;
const IPV6_HOPLIMIT: i32 = 47;

/// What the kernel adds to a datagram on request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Added {
    /// When it arrived.
    pub stamp: Option<WallTime>,
    /// Where it was sent to.
    pub to: Option<SocketAddr>,
    /// Its TTL or hop limit.
    pub hop_limit: Option<u8>,
    /// Its traffic class.
    pub class: Option<u8>,
}

/// Reads all control messages of a datagram.
pub fn read(mut control: &[u8]) -> Added {
    let mut added = Added::default();
    while let Some(length) = u32_at(control, 0).map(|length| length as usize) {
        let Some(data) = control.get(HEADER_BYTES..length) else { return added };
        let of = |at| u32_at(control, at).unwrap_or(0).cast_signed();
        match (of(4), of(8)) {
            (SOL_SOCKET, SCM_TIMESTAMP) => added.stamp = stamp(data),
            (IPPROTO_IP, IP_RECVTTL) => added.hop_limit = data.first().copied(),
            (IPPROTO_IP, IP_RECVTOS) => added.class = data.first().copied(),
            (IPPROTO_IP, IP_PKTINFO) => added.to = destination_v4(data),
            // Integers of 4 bytes.
            (IPPROTO_IPV6, IPV6_HOPLIMIT) => added.hop_limit = data.first().copied(),
            (IPPROTO_IPV6, IPV6_TCLASS) => added.class = data.first().copied(),
            (IPPROTO_IPV6, IPV6_PKTINFO) => added.to = destination_v6(data),
            _ => {}
        }
        control = control.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    added
}

/// `struct timeval` of 64-bit processors: 8 bytes of seconds, 4 of microseconds, 4 unused.
fn stamp(data: &[u8]) -> Option<WallTime> {
    let seconds = u64::from_le_bytes(data.get(..8)?.try_into().ok()?);
    let micros = u32_at(data, 8)?;
    Some(WallTime(seconds.checked_mul(1_000_000_000)?.checked_add(u64::from(micros) * 1_000)?))
}

/// `struct in_pktinfo`: interface, address to send from, destination.
fn destination_v4(data: &[u8]) -> Option<SocketAddr> {
    let octets: [u8; 4] = data.get(8..12)?.try_into().ok()?;
    Some(SocketAddrV4::new(octets.into(), 0).into())
}

/// `struct in6_pktinfo`: destination, interface.
fn destination_v6(data: &[u8]) -> Option<SocketAddr> {
    let (ip, interface) = (v6_at(data, 0)?, u32_at(data, 16)?);
    let scope = if ip.is_unicast_link_local() { interface } else { 0 };
    Some(SocketAddrV6::new(ip, 0, 0, scope).into())
}

/// Appends a message.
pub fn put(control: &mut Vec<u8>, level: i32, kind: i32, data: &[u8]) {
    let length = (HEADER_BYTES + data.len()) as u32;
    for word in [length, level.cast_unsigned(), kind.cast_unsigned()] {
        control.extend(word.to_le_bytes());
    }
    control.extend(data);
    control.resize(control.len().next_multiple_of(4), 0);
}

/// `struct in_pktinfo` with an address to send from, of an interface that the kernel chooses.
pub fn source_v4(from: Ipv4Addr) -> [u8; 12] {
    let mut data = [0; 12];
    data[4..8].copy_from_slice(&from.octets());
    data
}

/// `struct in6_pktinfo` with an address to send from.
pub fn source_v6(from: SocketAddrV6) -> [u8; 20] {
    let mut data = [0; 20];
    data[..16].copy_from_slice(&from.ip().octets());
    data[16..].copy_from_slice(&from.scope_id().to_le_bytes());
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,700,000,000.123456 s; TTL 57; class 0xb9; from 192.0.2.7 on interface 4.
    #[rustfmt::skip]
    const V4: [u8; 84] = [
        // A time: 28 bytes, level 0xffff, type 2.
        28, 0, 0, 0, 0xff, 0xff, 0, 0, 2, 0, 0, 0,
        0x00, 0xf1, 0x53, 0x65, 0, 0, 0, 0, 0x40, 0xe2, 0x01, 0, 0, 0, 0, 0,
        // A TTL: 13 bytes, level 0, type 24, and 3 bytes of padding.
        13, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 57, 0, 0, 0,
        // A class: type 27.
        13, 0, 0, 0, 0, 0, 0, 0, 27, 0, 0, 0, 0xb9, 0, 0, 0,
        // A destination: 24 bytes, type 26.
        24, 0, 0, 0, 0, 0, 0, 0, 26, 0, 0, 0,
        4, 0, 0, 0, 10, 0, 0, 1, 192, 0, 2, 7,
    ];
    /// Hop limit 64; class 1; to fe80::1 on interface 5.
    #[rustfmt::skip]
    const V6: [u8; 64] = [
        16, 0, 0, 0, 41, 0, 0, 0, 47, 0, 0, 0, 64, 0, 0, 0,
        16, 0, 0, 0, 41, 0, 0, 0, 36, 0, 0, 0, 1, 0, 0, 0,
        32, 0, 0, 0, 41, 0, 0, 0, 46, 0, 0, 0,
        0xfe, 0x80, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0,
    ];

    #[test]
    fn all_that_the_kernel_adds_is_read() {
        let expected = Added {
            stamp: Some(WallTime(1_700_000_000_123_456_000)),
            to: Some("192.0.2.7:0".parse().unwrap()),
            hop_limit: Some(57),
            class: Some(0xb9),
        };
        assert_eq!(read(&V4), expected);
        let to = Some(SocketAddrV6::new("fe80::1".parse().unwrap(), 0, 0, 5).into());
        assert_eq!(read(&V6), Added { stamp: None, to, hop_limit: Some(64), class: Some(1) });
    }

    #[test]
    fn cut_messages_end_quietly() {
        for length in 0..V4.len() {
            assert_eq!(read(&V4[..length]).to, None, "{length} bytes");
        }
        // Lengths that are too short for the header.
        assert_eq!(read(&[0; 24]), Added::default());
        assert_eq!(read(&[11, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0]), Added::default());
    }

    #[test]
    fn what_is_written_has_the_same_layout() {
        let mut control = Vec::new();
        put(&mut control, IPPROTO_IP, IP_RECVTTL, &[57]);
        assert_eq!(control, V4[28..44]);
        control.clear();
        put(&mut control, IPPROTO_IPV6, IPV6_TCLASS, &1_u32.to_le_bytes());
        put(&mut control, IPPROTO_IPV6, IPV6_PKTINFO, &source_v6("[2001:db8::1]:9".parse().unwrap()));
        let expected = Some("[2001:db8::1]:0".parse().unwrap());
        assert_eq!(read(&control), Added { to: expected, class: Some(1), ..Added::default() });
        assert_eq!(source_v4([10, 0, 0, 1].into()), [0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0]);
    }
}
