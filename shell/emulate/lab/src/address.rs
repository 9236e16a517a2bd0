//! Addresses inside a lab. They are the same in every lab, because labs are isolated from each
//! other.
use std::net::{Ipv4Addr, Ipv6Addr};

/// Network of the lab. Source: RFC 2544 appendix C.2.2, benchmarks.
pub(crate) const V4_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);
/// A unique local prefix (RFC 4193); its global ID spells "fathom" without the first letter.
pub(crate) const V6_NETWORK: (Ipv6Addr, u8) = (v6(0, 0), 48);

/// Addresses of a host or a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Router {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}

/// The client side.
pub(crate) const CLIENT: Router = Router { v4: Ipv4Addr::new(198, 18, 0, 2), v6: v6(0, 2) };
/// The server side.
pub(crate) const SERVER: Router = Router { v4: Ipv4Addr::new(198, 19, 0, 2), v6: v6(0xffff, 2) };

/// The router at the end of hop `hop`, counted from 0.
pub(crate) fn router(hop: usize) -> Router {
    // A line has at most 32 hops.
    let number = hop as u8 + 1;
    Router { v4: Ipv4Addr::new(198, 18, number, 1), v6: v6(u16::from(number), 1) }
}

const fn v6(subnet: u16, host: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfd61, 0x7468, 0x6f6d, subnet, 0, 0, 0, host)
}
