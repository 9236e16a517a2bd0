//! Kinds of frames. Source: IANA / tcpdump.org link-layer header types; a number that systems give differently has one row each.

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
    /// IP, as most systems number it within.
    pub const RAW_BSD: Self = LinkType(12);
    /// IP, as OpenBSD numbers it within.
    pub const RAW_OPENBSD: Self = LinkType(14);
    /// PPP in HDLC framing.
    pub const PPP_HDLC: Self = LinkType(50);
    /// PPPoE from its session header on.
    pub const PPP_ETHER: Self = LinkType(51);
    /// IP of either version.
    pub const RAW: Self = LinkType(101);
    /// Cisco HDLC.
    pub const C_HDLC: Self = LinkType(104);
    /// 802.11 without anything before it.
    pub const IEEE802_11: Self = LinkType(105);
    /// As [`LinkType::NULL`], in network byte order (OpenBSD loopback).
    pub const LOOP: Self = LinkType(108);
    /// Linux "cooked", version 1: what `tcpdump -i any` wrote before 2018.
    pub const LINUX_SLL: Self = LinkType(113);
    /// 802.11 after a radiotap header.
    pub const RADIOTAP: Self = LinkType(127);
    /// PPP with the direction in place of HDLC's address.
    pub const PPP_PPPD: Self = LinkType(166);
    /// IPv4.
    pub const IPV4: Self = LinkType(228);
    /// IPv6.
    pub const IPV6: Self = LinkType(229);
    /// Linux "cooked", version 2: what `tcpdump -i any` writes.
    pub const LINUX_SLL2: Self = LinkType(276);
    /// Those of all interfaces of Linux.
    pub(crate) const COOKED: [Self; 2] = [LinkType::LINUX_SLL, LinkType::LINUX_SLL2];
}
