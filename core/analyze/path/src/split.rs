//! Super-packets as the segments that are on the wire.
//!
//! With offload a host sees up to 64 kB at once before it sends (GSO) and after it received (GRO), cut at other places by each. The
//! pieces are again those of the wire, by the segment size of the handshake.
use alloc::vec;
use alloc::vec::Vec;
use fathom_capture::{Packet, TcpHeader, Transport};

/// Connections whose segment size is remembered; two in one place forget each other.
const PLACES: usize = 4096;
/// The segment size of Ethernet, for connections that began before the capture.
const ETHERNET_MTU: u32 = 1500;
const TCP_HEADER: u32 = 20;
/// Flags of TCP (RFC 9293 section 3.1): those on the last piece alone, and the one of a SYN.
const FIN_OR_PUSH: u16 = 0x09;
const SYN: u16 = 0x02;
/// The option of the largest segment: its type and length.
const SEGMENT_SIZE: [u8; 2] = [2, 4];

/// Segment sizes by connection.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Hash of a connection, and the lesser of both ends' largest segments.
    places: Vec<(u64, u16)>,
}

impl Sizes {
    pub(crate) fn new() -> Self {
        Sizes { places: vec![(0, u16::MAX); PLACES] }
    }
    /// A packet of the connection with this hash: its SYN tells the size.
    pub(crate) fn learn(&mut self, connection: u64, tcp: &TcpHeader<'_>) {
        if tcp.flags & SYN == 0 {
            return;
        }
        let Some(size) = offered(tcp.options) else { return };
        if let Some(place) = self.places.get_mut(connection as usize % PLACES) {
            let before = if place.0 == connection { place.1 } else { u16::MAX };
            // Of two SYNs the one that the path lowered counts; a new connection at the same ports seldom has another size.
            *place = (connection, size.min(before));
        }
    }
    /// Bytes of payload that a segment with headers like this one's may have.
    pub(crate) fn segment(&self, connection: u64, packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> u32 {
        let headers = packet.ip_bytes.saturating_sub(tcp.payload_bytes);
        let fixed = TCP_HEADER + if packet.identification.is_some() { 20 } else { 40 };
        let known = self.places.get(connection as usize % PLACES).filter(|place| place.0 == connection);
        let size = known.map_or(ETHERNET_MTU - fixed, |place| u32::from(place.1));
        // The offer is without options (RFC 6691).
        size.saturating_sub(headers.saturating_sub(fixed)).max(1)
    }
}

/// The size in a SYN's options, where it stands first.
fn offered(options: &[u8]) -> Option<u16> {
    let rest = options.strip_prefix(&SEGMENT_SIZE)?;
    rest.first_chunk().map(|size| u16::from_be_bytes(*size)).filter(|size| *size > 0)
}

/// The pieces of a packet with more payload than a segment has.
pub(crate) fn pieces<'a>(
    packet: &Packet<'a>,
    tcp: &TcpHeader<'a>,
    segment: u32,
) -> impl Iterator<Item = Packet<'a>> {
    let (whole, header) = (packet.clone(), tcp.clone());
    let headers = packet.ip_bytes.saturating_sub(tcp.payload_bytes);
    (0..tcp.payload_bytes.div_ceil(segment)).map(move |number| {
        let start = number * segment;
        let is_last = header.payload_bytes - start <= segment;
        let mut piece = header.clone();
        piece.sequence = header.sequence.wrapping_add(start);
        piece.payload_bytes = segment.min(header.payload_bytes - start);
        piece.flags = if is_last { header.flags } else { header.flags & !FIN_OR_PUSH };
        Packet {
            // Hardware and kernel count it up from piece to piece.
            identification: whole.identification.map(|id| id.wrapping_add(number as u16)),
            ip_bytes: headers + piece.payload_bytes,
            transport: Transport::Tcp(piece),
            ..whole.clone()
        }
    })
}
