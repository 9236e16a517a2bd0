//! Messages of route sockets (`struct rt_msghdr` of bsd/net/route.h), which ask for a route.
//!
//! The header has 92 bytes: the length of the message in 2 bytes, version and type in one each, the
//! interface in 2 bytes, 2 bytes of padding, then in 4 bytes each flags, which addresses follow,
//! process, number of the request, and error; the rest is metrics. Addresses follow, each a socket
//! address of a length that is its first byte, rounded up to a multiple of 4.
use crate::{u16_at, u32_at, v6_at};
use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};

const HEADER_BYTES: usize = 92;
/// Source: bsd/net/route.h.
const RTM_VERSION: u8 = 5;
const RTM_GET: u8 = 4;
const RTA_DST: u32 = 1;
const RTA_IFP: u32 = 0x10;
const RTF_GATEWAY: u32 = 2;
/// The second address is the gateway, the fifth the interface.
const ADDRESSES: u32 = 8;
const GATEWAY: u32 = 1;
const INTERFACE: u32 = 4;
/// Source: bsd/sys/socket.h.
const AF_INET: u8 = 2;
const AF_LINK: u8 = 18;
const AF_INET6: u8 = 30;
/// Length of `struct sockaddr_dl`. Source: bsd/net/if_dl.h.
const LINK_BYTES: u8 = 20;

/// A route, or why there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// PID of the process that asks.
    pub process: u32,
    /// Number of the request.
    pub number: u32,
    /// `errno`; 0 without an error.
    pub error: u32,
    /// The gateway, if there is one.
    pub gateway: Option<IpAddr>,
    /// Number of the interface.
    pub interface: u32,
}

/// Asks for the route to a host, with its interface.
pub fn request(to: IpAddr, number: u32) -> Vec<u8> {
    let mut message = vec![0; HEADER_BYTES];
    match to {
        IpAddr::V4(v4) => {
            message.extend([16, AF_INET, 0, 0]);
            message.extend(v4.octets());
            message.extend([0; 8]);
        }
        IpAddr::V6(v6) => {
            message.extend([28, AF_INET6, 0, 0, 0, 0, 0, 0]);
            message.extend(v6.octets());
            message.extend([0; 4]);
        }
    }
    // The kernel fills the interface in.
    message.extend([LINK_BYTES, AF_LINK]);
    message.extend([0; LINK_BYTES as usize - 2]);
    let length = message.len() as u16;
    message[..2].copy_from_slice(&length.to_le_bytes());
    message[2..4].copy_from_slice(&[RTM_VERSION, RTM_GET]);
    message[12..16].copy_from_slice(&(RTA_DST | RTA_IFP).to_le_bytes());
    message[20..24].copy_from_slice(&number.to_le_bytes());
    message
}

/// Reads a reply; `None` for other messages, which every route socket receives.
pub fn reply(message: &[u8]) -> Option<Reply> {
    let of_route = message.get(2..4)? == [RTM_VERSION, RTM_GET];
    let message = message.get(..usize::from(u16_at(message, 0)?)).filter(|_| of_route)?;
    let (flags, addresses) = (u32_at(message, 8)?, u32_at(message, 12)?);
    let (process, number, error) = (u32_at(message, 16)?, u32_at(message, 20)?, u32_at(message, 24)?);
    let mut reply = Reply { process, number, error, gateway: None, interface: u16_at(message, 4)?.into() };
    let mut rest = message.get(HEADER_BYTES..)?;
    for which in (0..ADDRESSES).filter(|which| addresses & 1 << which != 0) {
        let Some(length) = rest.first().copied().map(usize::from) else { break };
        match which {
            GATEWAY if flags & RTF_GATEWAY != 0 => reply.gateway = ip(rest),
            INTERFACE if rest.get(1) == Some(&AF_LINK) => reply.interface = u16_at(rest, 2)?.into(),
            _ => {}
        }
        // An address of no length takes 4 bytes.
        rest = rest.get(length.max(1).next_multiple_of(4)..).unwrap_or_default();
    }
    Some(reply)
}

fn ip(address: &[u8]) -> Option<IpAddr> {
    match *address.get(1)? {
        AF_INET => {
            let octets: [u8; 4] = address.get(4..8)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        }
        AF_INET6 => Some(v6_at(address, 8)?.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with a length, an interface, flags and addresses, of request 7 of process 300.
    fn message(interface: u8, flags: u32, which: u32, addresses: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.extend(addresses.concat());
        bytes[0] = bytes.len() as u8;
        bytes[2..5].copy_from_slice(&[5, 4, interface]);
        bytes[8..12].copy_from_slice(&flags.to_le_bytes());
        bytes[12..16].copy_from_slice(&which.to_le_bytes());
        bytes[16..20].copy_from_slice(&300_u32.to_le_bytes());
        bytes[20] = 7;
        bytes
    }
    const DEFAULT: [u8; 16] = [16, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const ROUTER: [u8; 16] = [16, 2, 0, 0, 192, 168, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    /// The netmask of the default route has no length; one of /24 has 7 bytes, and one of padding.
    const NO_MASK: [u8; 4] = [0; 4];
    const MASK: [u8; 8] = [7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
    /// `en0`, interface 11, of Ethernet (6): a name of 3 bytes, an address of 6.
    #[rustfmt::skip]
    const EN0: [u8; 20] = [20, 18, 11, 0, 6, 3, 6, 0, b'e', b'n', b'0', 2, 0, 0, 0, 0, 1, 0, 0, 0];

    #[test]
    fn the_gateway_follows_the_destination() {
        let default = message(11, 0x803, 0x17, &[&DEFAULT, &ROUTER, &NO_MASK, &EN0]);
        let gateway = Some(IpAddr::from([192, 168, 1, 1]));
        let expected = Reply { process: 300, number: 7, error: 0, gateway, interface: 11 };
        assert_eq!(reply(&default), Some(expected));
        for length in 0..default.len() {
            assert_eq!(reply(&default[..length]), None, "{length} bytes");
        }
        // More than the message.
        assert_eq!(reply(&[default, vec![9; 50]].concat()), Some(expected));
    }

    #[test]
    fn a_host_of_the_same_network_has_none() {
        // The gateway of such a route is the interface, or the address of this host.
        let near = message(0, 0x501, 0x17, &[&DEFAULT, &EN0, &MASK, &EN0]);
        assert_eq!(reply(&near).map(|reply| (reply.gateway, reply.interface)), Some((None, 11)));
        let own = message(1, 0x5, 3, &[&DEFAULT, &ROUTER]);
        assert_eq!(reply(&own).map(|reply| (reply.gateway, reply.interface)), Some((None, 1)));
    }

    #[test]
    fn a_gateway_of_ipv6_has_no_interface_inside() {
        let mut router = [0; 28];
        router[..2].copy_from_slice(&[28, 30]);
        router[8..12].copy_from_slice(&[0xfe, 0x80, 0, 11]);
        router[23] = 1;
        let mut default = [0; 28];
        default[..2].copy_from_slice(&[28, 30]);
        let route = message(11, 0x803, 3, &[&default, &router]);
        let gateway = reply(&route).and_then(|reply| reply.gateway);
        assert_eq!(gateway, Some("fe80::1".parse().unwrap()));
    }

    #[test]
    fn a_request_reads_like_a_reply_without_a_gateway() {
        for (to, length) in [("192.0.2.1", 92 + 16 + 20), ("2001:db8::1", 92 + 28 + 20)] {
            let bytes = request(to.parse().unwrap(), 7);
            assert_eq!((bytes.len(), bytes[0]), (length, length as u8));
            let expected = Reply { process: 0, number: 7, error: 0, gateway: None, interface: 0 };
            assert_eq!(reply(&bytes), Some(expected));
        }
        // RTM_ADD.
        let mut other = request([192, 0, 2, 1].into(), 7);
        other[3] = 1;
        assert_eq!(reply(&other), None);
    }
}
