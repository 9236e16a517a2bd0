//! Link types. Source: IANA / tcpdump.org link-layer header types, with variants per system.

/// What the first byte of a frame is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Four bytes of address family in the capturing host's byte order, then IP (BSD loopback).
    pub const NULL: Self = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: Self = LinkType(1);
    /// PPP, with or without the two bytes of HDLC.
    pub const PPP: Self = LinkType(9);
    /// Raw IP, in the numbering of most systems.
    pub const RAW_BSD: Self = LinkType(12);
    /// Raw IP, in the numbering of OpenBSD.
    pub const RAW_OPENBSD: Self = LinkType(14);
    /// PPP in HDLC framing.
    pub const PPP_HDLC: Self = LinkType(50);
    /// PPPoE, from its session header on.
    pub const PPP_ETHER: Self = LinkType(51);
    /// Raw IP, either version.
    pub const RAW: Self = LinkType(101);
    /// Cisco HDLC.
    pub const C_HDLC: Self = LinkType(104);
    /// 802.11 without a preceding header.
    pub const IEEE802_11: Self = LinkType(105);
    /// [`LinkType::NULL`] in network byte order (OpenBSD loopback).
    pub const LOOP: Self = LinkType(108);
    /// Linux "cooked", version 1: the format of `tcpdump -i any` before 2018.
    pub const LINUX_SLL: Self = LinkType(113);
    /// 802.11 after a radiotap header.
    pub const RADIOTAP: Self = LinkType(127);
    /// PPP with the direction instead of HDLC's address.
    pub const PPP_PPPD: Self = LinkType(166);
    /// Raw IPv4.
    pub const IPV4: Self = LinkType(228);
    /// Raw IPv6.
    pub const IPV6: Self = LinkType(229);
    /// Linux "cooked", version 2: the format of `tcpdump -i any`.
    pub const LINUX_SLL2: Self = LinkType(276);
    /// The link types of Linux's `any` device.
    pub(crate) const COOKED: [Self; 2] = [LinkType::LINUX_SLL, LinkType::LINUX_SLL2];
}
