//! The packet in a captured frame.
use crate::Address;

/// An IP packet in a frame: in tunnels the innermost one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// The six DSCP bits.
    pub dscp: u8,
    /// The two ECN bits.
    pub ecn: u8,
    /// IPv4 identification.
    pub identification: Option<u16>,
    /// Length of the IP packet by its header; of the frame if that says 0 (BIG TCP).
    pub ip_bytes: u32,
    /// Length of the frame as sent; fewer bytes may be stored.
    pub wire_bytes: u32,
    /// The payload of IP.
    pub transport: Transport<'a>,
}

/// The payload of IP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transport<'a> {
    /// TCP, complete at least up to its flags and window.
    Tcp(TcpHeader<'a>),
    /// UDP.
    Udp(UdpHeader<'a>),
    /// ICMP or ICMPv6.
    Icmp(IcmpHeader<'a>),
    /// A fragment other than the first.
    LaterFragment {
        /// IP protocol number.
        protocol: u8,
    },
    /// Another protocol, or one of these with a truncated header.
    Other {
        /// IP protocol number.
        protocol: u8,
    },
}

/// A TCP header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpHeader<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte (or of SYN).
    pub sequence: u32,
    /// Acknowledgment number; valid if the ACK flag is set.
    pub acknowledgement: u32,
    /// `fathom_wire::flag` in the low byte, AE (RFC 9768) as bit 8.
    pub flags: u16,
    /// Window field, not scaled.
    pub window: u16,
    /// Payload length as sent, from the lengths in the headers.
    pub payload_bytes: u32,
    /// Timestamps, parsed in advance because almost all segments have them.
    pub stamps: Option<Stamps>,
    /// The stored bytes of options, for `fathom_wire::TcpOptions`.
    pub options: &'a [u8],
    /// The stored payload.
    pub payload: &'a [u8],
}

/// TCP timestamps (RFC 7323 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echoed clock of the other side.
    pub echo: u32,
}

/// A UDP header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UdpHeader<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Payload length as sent.
    pub payload_bytes: u32,
    /// The stored payload.
    pub payload: &'a [u8],
}

/// An ICMP or ICMPv6 message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IcmpHeader<'a> {
    /// True for ICMPv6.
    pub is_v6: bool,
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// The four bytes after the checksum: identifier and sequence number of an echo.
    pub rest: [u8; 4],
    /// The stored payload.
    pub payload: &'a [u8],
}
