//! What a captured frame holds, once its wrapping is off.
use crate::Address;

/// An IP packet out of a frame: the innermost one, where there are tunnels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Who sent it.
    pub source: Address,
    /// To whom.
    pub destination: Address,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// The six DSCP bits.
    pub dscp: u8,
    /// The two ECN bits.
    pub ecn: u8,
    /// Identification of IPv4.
    pub identification: Option<u16>,
    /// Bytes of the IP packet as it was sent, by its header (by the frame's length where the header says 0: BIG TCP).
    pub ip_bytes: u32,
    /// Bytes of the frame as it was sent, of which fewer may be stored.
    pub wire_bytes: u32,
    /// What IP carries.
    pub transport: Transport<'a>,
}

/// What IP carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transport<'a> {
    /// TCP, at least up to its flags and window.
    Tcp(TcpHeader<'a>),
    /// UDP.
    Udp(UdpHeader<'a>),
    /// ICMP of either version.
    Icmp(IcmpHeader<'a>),
    /// A fragment that is not the first.
    LaterFragment {
        /// Its protocol.
        protocol: u8,
    },
    /// Another protocol, or one of those above of which too little is stored.
    Other {
        /// Its protocol.
        protocol: u8,
    },
}

/// A TCP header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpHeader<'a> {
    /// Port it was sent from.
    pub source_port: u16,
    /// Port it was sent to.
    pub destination_port: u16,
    /// Sequence number of the first byte (or of SYN).
    pub sequence: u32,
    /// Acknowledgement number; it counts if the ACK flag is set.
    pub acknowledgement: u32,
    /// `fathom_wire::flag` in the low byte, AE (RFC 9768) as bit 8.
    pub flags: u16,
    /// Window as in the header, not scaled.
    pub window: u16,
    /// Bytes of payload as they were sent, by the lengths in the headers.
    pub payload_bytes: u32,
    /// Timestamps, looked up beforehand, as almost all segments have them.
    pub stamps: Option<Stamps>,
    /// The options' bytes as far as they are stored: for `fathom_wire::TcpOptions`.
    pub options: &'a [u8],
    /// The payload as far as it is stored.
    pub payload: &'a [u8],
}

/// TCP timestamps (RFC 7323 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the other's clock, echoed.
    pub echo: u32,
}

/// A UDP header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UdpHeader<'a> {
    /// Port it was sent from.
    pub source_port: u16,
    /// Port it was sent to.
    pub destination_port: u16,
    /// Bytes of payload as they were sent.
    pub payload_bytes: u32,
    /// The payload as far as it is stored.
    pub payload: &'a [u8],
}

/// A message of ICMP or ICMPv6.
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
    /// What follows, as far as it is stored.
    pub payload: &'a [u8],
}
