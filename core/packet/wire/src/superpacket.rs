//! Splits super-packets without copying, and joins the segments that remain.
//!
//! A kernel with segmentation offload passes up to 64 KiB of TCP payload under one header. A queue
//! must see the packets of a wire, so the super-packet is split *virtually*: segment `i` is an
//! index, and its bytes are not moved. Segments that leave the queue together are passed on as a
//! smaller super-packet: a new header, and the payload in its original place.
use crate::error::WireError;
use crate::tcp::{self, TcpSegment, flag};
use crate::{IpPacket, Ipv4Packet, Ipv6Packet, VnetHeader, checksum, protocol};
use core::ops::Range;

/// Space for a header in [`SuperPacket::rewrite`]: IPv6 with extensions, TCP with all options.
pub const MAX_HEADER_BYTES: usize = 256;

const WHAT: &str = "super-packet";

/// The layout of a packet. A packet that is not split has one segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuperPacket {
    vnet: VnetHeader,
    /// Length of the headers, which every segment repeats.
    header_bytes: usize,
    /// Offset of TCP; only used with several segments.
    transport: usize,
    /// Payload of each segment except the last.
    segment_payload: usize,
    /// Total payload.
    payload: usize,
}

/// Changes to segments on their path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rewrite {
    /// Marked with congestion experienced.
    pub ce: bool,
    /// New DSCP.
    pub dscp: Option<u8>,
    /// Number of routers passed.
    pub hops: u8,
}

/// Segments to pass to the kernel: this header, then the new packet header, then the payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Offload instructions for the kernel.
    pub vnet: VnetHeader,
    /// Length of the new packet header in bytes.
    pub header_len: usize,
    /// Position of the payload in the super-packet.
    pub payload: Range<usize>,
}

impl SuperPacket {
    /// The layout of `packet`, which TUN delivered with `vnet`.
    ///
    /// # Errors
    /// The packet is not IP, or should be split but is not complete TCP.
    pub fn new_checked(vnet: VnetHeader, packet: &[u8]) -> Result<Self, WireError> {
        let ip = IpPacket::new_checked(packet)?;
        match vnet.gso_type & !VnetHeader::GSO_ECN {
            VnetHeader::GSO_NONE => Ok(Self::whole(vnet, &ip)),
            VnetHeader::GSO_TCPV4 | VnetHeader::GSO_TCPV6 => Self::to_be_cut(vnet, &ip, packet),
            kind => {
                Err(WireError::Malformed { what: WHAT, field: "segmentation type", value: usize::from(kind) })
            }
        }
    }

    fn whole(vnet: VnetHeader, ip: &IpPacket<&[u8]>) -> Self {
        let header_bytes = match ip {
            IpPacket::V4(p) => p.header_len(),
            IpPacket::V6(_) => 40,
        };
        let payload = ip.total_len() - header_bytes;
        SuperPacket { vnet, header_bytes, transport: header_bytes, segment_payload: payload, payload }
    }

    fn to_be_cut(vnet: VnetHeader, ip: &IpPacket<&[u8]>, packet: &[u8]) -> Result<Self, WireError> {
        let malformed = |field, value| Err(WireError::Malformed { what: WHAT, field, value });
        let (number, transport) = ip.transport().unwrap_or((0, 0));
        if number != protocol::TCP {
            return malformed("protocol", usize::from(number));
        }
        let bytes = &packet[..ip.total_len()];
        let header_bytes = transport + TcpSegment::new_checked(&bytes[transport..])?.header_len();
        if header_bytes > MAX_HEADER_BYTES {
            return malformed("header length", header_bytes);
        }
        if vnet.gso_size == 0 {
            return malformed("segment size", 0);
        }
        let (segment_payload, payload) = (usize::from(vnet.gso_size), bytes.len() - header_bytes);
        Ok(SuperPacket { vnet, header_bytes, transport, segment_payload, payload })
    }

    /// Number of packets on a wire, at least 1.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.payload.div_ceil(self.segment_payload.max(1)).max(1)
    }
    /// Length of packet `segment` on a wire, including the IP header.
    #[must_use]
    pub fn segment_len(&self, segment: usize) -> usize {
        self.header_bytes + self.payload_of(segment..segment + 1).len()
    }
    /// Position of the payload of `segments` in the super-packet.
    fn payload_of(&self, segments: Range<usize>) -> Range<usize> {
        let at = |segment: usize| self.header_bytes + (segment * self.segment_payload).min(self.payload);
        at(segments.start)..at(segments.end)
    }

    /// `segments` of `packet`, modified by `change`, as one packet. Writes its header to `header`.
    ///
    /// # Panics
    /// If `packet` does not have this layout, or `segments` is empty or out of range.
    pub fn rewrite(
        &self,
        packet: &[u8],
        segments: Range<usize>,
        change: Rewrite,
        header: &mut [u8; MAX_HEADER_BYTES],
    ) -> Run {
        assert!(
            segments.start < segments.end && segments.end <= self.segments(),
            "invalid segment range {segments:?}"
        );
        let header = &mut header[..self.header_bytes];
        header.copy_from_slice(&packet[..self.header_bytes]);
        let payload = self.payload_of(segments.clone());
        let vnet = if self.segments() == 1 && self.vnet.gso_type == VnetHeader::GSO_NONE {
            self.vnet
        } else {
            self.cut(header, &segments, payload.len())
        };
        let mut ip = IpPacket::of_checked_header(header);
        if change.ce {
            ip.set_ce();
        }
        if let Some(dscp) = change.dscp {
            ip.set_dscp(dscp);
        }
        ip.decrement_hop_limit(change.hops);
        Run { vnet, header_len: self.header_bytes, payload }
    }

    /// Converts the header of the super-packet to that of `segments` with `payload` bytes.
    fn cut(&self, header: &mut [u8], segments: &Range<usize>, payload: usize) -> VnetHeader {
        let total = header.len() + payload;
        let version = header[0] >> 4;
        if version == 4 {
            let mut ip = Ipv4Packet::of_header(&mut *header);
            // Segments of a super-packet have consecutive identifications.
            let identification = ip.identification().wrapping_add(segments.start as u16);
            ip.set_lengths(total as u16, identification);
        } else {
            Ipv6Packet::of_header(&mut *header).set_payload_len((total - 40) as u16);
        }
        let is_cwr = self.cut_tcp(header, segments, payload);
        self.vnet_of(version, is_cwr, payload)
    }

    /// Adjusts TCP's sequence number and flags, and the pseudo-header sum. True if CWR is set.
    fn cut_tcp(&self, header: &mut [u8], segments: &Range<usize>, payload: usize) -> bool {
        let ip = IpPacket::of_checked_header(&*header);
        let tcp_bytes = (header.len() - self.transport + payload) as u32;
        let pseudo = checksum::pseudo_header(ip.source(), ip.destination(), protocol::TCP, tcp_bytes);
        let mut tcp = TcpSegment::of_checked(&mut header[self.transport..]);
        let skipped = (segments.start * self.segment_payload) as u32;
        tcp.set_sequence(tcp.sequence().wrapping_add(skipped));
        if segments.end < self.segments() {
            tcp.clear_flags(flag::PSH | flag::FIN);
        }
        if segments.start > 0 {
            tcp.clear_flags(flag::CWR);
        }
        tcp.set_checksum(checksum::fold(pseudo));
        tcp.flags() & flag::CWR != 0
    }

    fn vnet_of(&self, version: u8, is_cwr: bool, payload: usize) -> VnetHeader {
        let single = VnetHeader {
            flags: VnetHeader::NEEDS_CSUM,
            hdr_len: self.header_bytes as u16,
            csum_start: self.transport as u16,
            csum_offset: tcp::CHECKSUM_OFFSET as u16,
            ..VnetHeader::default()
        };
        if payload <= self.segment_payload {
            return single;
        }
        let kind = if version == 4 { VnetHeader::GSO_TCPV4 } else { VnetHeader::GSO_TCPV6 };
        let ecn = if is_cwr { VnetHeader::GSO_ECN } else { 0 };
        VnetHeader { gso_type: kind | ecn, gso_size: self.segment_payload as u16, ..single }
    }
}
