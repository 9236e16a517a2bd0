//! Tunnels.
use super::layer::{Depth, Layer};
use super::{ip, link};
use crate::NotIp;
use crate::Packet;
use fathom_wire::protocol;

/// Protocol numbers. Source: IANA protocol numbers.
mod number {
    pub(super) const IPV4: u8 = 4;
    pub(super) const IPV6: u8 = 41;
    pub(super) const GRE: u8 = 47;
}

/// Destination ports of tunnels. Source: IANA service names; Linux's original port of VXLAN.
mod port {
    pub(super) const VXLAN: u16 = 4789;
    pub(super) const VXLAN_LINUX: u16 = 8472;
    pub(super) const GENEVE: u16 = 6081;
}

const UDP_HEADER: usize = 8;

/// The inner packet, if enough of it is stored; otherwise the outer packet counts.
pub(super) fn inner(protocol: u8, body: Layer<'_>, depth: Depth) -> Option<Packet<'_>> {
    match protocol {
        number::IPV4 => ip::v4(body, depth.deeper().ok()?).ok(),
        number::IPV6 => ip::v6(body, depth.deeper().ok()?).ok(),
        number::GRE => gre(body, depth.deeper().ok()?).ok(),
        protocol::UDP => match body.u16(2).ok()? {
            port::VXLAN | port::VXLAN_LINUX => vxlan(body, depth.deeper().ok()?).ok(),
            port::GENEVE => geneve(body, depth.deeper().ok()?).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// RFC 2784 with RFC 2890. Version 1 is for PPTP, which carries PPP.
fn gre(body: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const VERSION: u16 = 0x0007;
    let flags = body.u16(0)?;
    if flags & (ROUTING | VERSION) != 0 {
        return Err(NotIp::Malformed);
    }
    let fields = [CHECKSUM, KEY, SEQUENCE].iter().filter(|flag| flags & **flag != 0).count();
    link::by_ethertype(body.u16(2)?, body.skip(4 + 4 * fields)?, depth)
}

/// RFC 7348 section 5.
fn vxlan(udp: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    /// The network identifier flag; without it this is another protocol on that port.
    const HAS_IDENTIFIER: u8 = 0x08;
    if udp.byte(UDP_HEADER)? != HAS_IDENTIFIER {
        return Err(NotIp::Malformed);
    }
    link::ethernet(udp.skip(UDP_HEADER + 8)?, depth)
}

/// RFC 8926 section 3.4.
fn geneve(udp: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let first = udp.byte(UDP_HEADER)?;
    if first >> 6 != 0 {
        return Err(NotIp::Malformed);
    }
    let options = usize::from(first & 0x3f) * 4;
    link::by_ethertype(udp.u16(UDP_HEADER + 2)?, udp.skip(UDP_HEADER + 8 + options)?, depth)
}
