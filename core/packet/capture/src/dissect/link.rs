//! Link layers, and tags between them and IP.
use super::layer::{Depth, Layer};
use super::{ip, radio};
use crate::NotIp;
use crate::order::take;
use crate::{LinkType, Packet};

/// EtherTypes. Source: IANA IEEE 802 numbers.
pub(crate) mod ethertype {
    pub(crate) const IPV4: u16 = 0x0800;
    pub(crate) const ARP: u16 = 0x0806;
    pub(crate) const IPV6: u16 = 0x86dd;
    pub(crate) const VLAN: u16 = 0x8100;
    pub(crate) const SERVICE_VLAN: u16 = 0x88a8;
    /// QinQ before 802.1ad.
    pub(crate) const OLD_SERVICE_VLAN: [u16; 2] = [0x9100, 0x9200];
    pub(crate) const MPLS: u16 = 0x8847;
    pub(crate) const MPLS_MULTICAST: u16 = 0x8848;
    pub(crate) const PPPOE_SESSION: u16 = 0x8864;
    /// Ethernet within GRE or Geneve.
    pub(crate) const BRIDGED: u16 = 0x6558;
    /// Smaller values are lengths of 802.3 frames (IEEE 802.3 section 3.2.6).
    pub(crate) const FIRST: u16 = 0x0600;

    /// Whether a VLAN tag follows.
    pub(crate) fn is_vlan(kind: u16) -> bool {
        [VLAN, SERVICE_VLAN].contains(&kind) || OLD_SERVICE_VLAN.contains(&kind)
    }
}

/// PPP protocols. Source: IANA PPP numbers.
mod ppp_protocol {
    pub(super) const IPV4: u16 = 0x0021;
    pub(super) const IPV6: u16 = 0x0057;
    pub(super) const MPLS: u16 = 0x0281;
}

/// This bit marks the last label of a stack (RFC 3032 section 2.1).
const BOTTOM_OF_STACK: u8 = 0x01;
/// A frame with more labels is malformed.
const MAX_LABELS: usize = 16;

/// Ethernet, from the destination address on.
pub(super) fn ethernet(frame: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let kind = frame.u16(12)?;
    by_ethertype(kind, frame.skip(14)?, depth)
}

pub(super) fn by_ethertype(kind: u16, layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    match kind {
        ethertype::IPV4 => ip::v4(layer, depth),
        ethertype::IPV6 => ip::v6(layer, depth),
        _ => tagged(kind, layer, depth.deeper()?),
    }
}

fn tagged(kind: u16, layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    match kind {
        _ if ethertype::is_vlan(kind) => vlan(layer, depth),
        ethertype::MPLS | ethertype::MPLS_MULTICAST => mpls(layer, depth),
        ethertype::PPPOE_SESSION => pppoe(layer, depth),
        ethertype::BRIDGED => ethernet(layer, depth),
        _ if kind < ethertype::FIRST => llc(layer, depth),
        _ => Err(NotIp::Protocol(kind)),
    }
}

fn vlan(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    by_ethertype(layer.u16(2)?, layer.skip(4)?, depth)
}

/// 802.2 with SNAP (RFC 1042); nothing else is IP.
pub(super) fn llc(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    const SNAP: [u8; 3] = [0xaa, 0xaa, 0x03];
    let head: [u8; 3] = take(layer.stored, 0).ok_or(NotIp::Cut)?;
    if head != SNAP {
        return Err(NotIp::Protocol(u16::from_be_bytes([head[0], head[1]])));
    }
    by_ethertype(layer.u16(6)?, layer.skip(8)?, depth.deeper()?)
}

/// The label stack does not name the payload; its first four bits do. 0 is a pseudowire (RFC 4385).
fn mpls(stack: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let mut layer = stack;
    for _ in 0..MAX_LABELS {
        let is_last = layer.byte(2)? & BOTTOM_OF_STACK != 0;
        layer = layer.skip(4)?;
        if is_last {
            return match layer.byte(0)? >> 4 {
                0 => ethernet(layer.skip(4)?, depth.deeper()?),
                _ => ip::either(layer, depth),
            };
        }
    }
    Err(NotIp::Malformed)
}

/// RFC 2516 section 4.
fn pppoe(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    const VERSION_1_TYPE_1: u8 = 0x11;
    if layer.byte(0)? != VERSION_1_TYPE_1 || layer.byte(1)? != 0 {
        return Err(NotIp::Malformed);
    }
    ppp(layer.skip(6)?, depth)
}

/// An odd protocol has one byte (RFC 1661 section 6.5), an even one two.
fn ppp(layer: Layer<'_>, depth: Depth) -> Result<Packet<'_>, NotIp> {
    let first = layer.byte(0)?;
    let (protocol, rest) =
        if first & 1 == 1 { (u16::from(first), layer.skip(1)?) } else { (layer.u16(0)?, layer.skip(2)?) };
    match protocol {
        ppp_protocol::IPV4 => ip::v4(rest, depth),
        ppp_protocol::IPV6 => ip::v6(rest, depth),
        ppp_protocol::MPLS => mpls(rest, depth.deeper()?),
        _ => Err(NotIp::Protocol(protocol)),
    }
}

/// PPP after the HDLC address and control fields, which may be absent (RFC 1662 section 3.2).
fn ppp_in_hdlc(layer: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    const ADDRESS_AND_CONTROL: u16 = 0xff03;
    const CISCO: [u8; 2] = [0x0f, 0x8f];
    if layer.u16(0)? == ADDRESS_AND_CONTROL {
        return ppp(layer.skip(2)?, Depth::NONE);
    }
    if CISCO.contains(&layer.byte(0)?) && layer.byte(1)? == 0 {
        return cisco_hdlc(layer);
    }
    ppp(layer, Depth::NONE)
}

fn cisco_hdlc(layer: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    by_ethertype(layer.u16(2)?, layer.skip(4)?, Depth::NONE)
}

/// NULL and LOOP contain the capturing system's address family; the IP version follows anyway.
fn loopback(layer: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    const INET: u8 = 2;
    /// IPv6 on Linux, NetBSD and OpenBSD, FreeBSD, macOS.
    const INET6: [u8; 4] = [10, 24, 28, 30];
    let family: [u8; 4] = take(layer.stored, 0).ok_or(NotIp::Cut)?;
    let number = match family {
        [n, 0, 0, 0] | [0, 0, 0, n] => n,
        _ => return Err(NotIp::Malformed),
    };
    if number == INET || INET6.contains(&number) {
        return ip::either(layer.skip(4)?, Depth::NONE);
    }
    Err(NotIp::Protocol(u16::from(number)))
}

/// Selects the dissector by link type.
pub(super) fn any(link: LinkType, frame: Layer<'_>) -> Result<Packet<'_>, NotIp> {
    match link {
        LinkType::ETHERNET => ethernet(frame, Depth::NONE),
        LinkType::RAW | LinkType::RAW_BSD | LinkType::RAW_OPENBSD | LinkType::IPV4 | LinkType::IPV6 => {
            ip::either(frame, Depth::NONE)
        }
        LinkType::NULL | LinkType::LOOP => loopback(frame),
        LinkType::LINUX_SLL => by_ethertype(frame.u16(14)?, frame.skip(16)?, Depth::NONE),
        LinkType::LINUX_SLL2 => by_ethertype(frame.u16(0)?, frame.skip(20)?, Depth::NONE),
        LinkType::PPP | LinkType::PPP_HDLC => ppp_in_hdlc(frame),
        LinkType::PPP_PPPD => ppp(frame.skip(2)?, Depth::NONE),
        LinkType::PPP_ETHER => pppoe(frame, Depth::NONE),
        LinkType::C_HDLC => cisco_hdlc(frame),
        LinkType::IEEE802_11 => radio::ieee802_11(frame, false),
        LinkType::RADIOTAP => radio::radiotap(frame),
        _ => Err(NotIp::Link(link)),
    }
}
