//! Splits super-packets into the segments sent on the wire.
//!
//! With offload, a capture on a host contains up to 64 kB at once before sending (GSO) and after
//! receiving (GRO), with different boundaries. The segment size from the handshake gives the
//! boundaries on the wire.
use alloc::vec;
use alloc::vec::Vec;
use fathom_capture::{Packet, TcpHeader, Transport};

/// Number of slots for segment sizes. Connections in the same slot replace each other.
const PLACES: usize = 4096;
/// Ethernet MTU, for connections that started before the capture.
const ETHERNET_MTU: u32 = 1500;
const TCP_HEADER: u32 = 20;
/// TCP flags (RFC 9293 section 3.1) that only the last segment carries; and the SYN flag.
const FIN_OR_PUSH: u16 = 0x09;
const SYN: u16 = 0x02;
/// Kind and length of the MSS option.
const SEGMENT_SIZE: [u8; 2] = [2, 4];

#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Hash of the connection, and the smaller MSS of both ends.
    places: Vec<(u64, u16)>,
}

impl Sizes {
    pub(crate) fn new() -> Self {
        Sizes { places: vec![(0, u16::MAX); PLACES] }
    }
    /// Records the MSS from a SYN.
    pub(crate) fn learn(&mut self, connection: u64, tcp: &TcpHeader<'_>) {
        if tcp.flags & SYN == 0 {
            return;
        }
        let Some(size) = offered(tcp.options) else { return };
        if let Some(place) = self.places.get_mut(connection as usize % PLACES) {
            let before = if place.0 == connection { place.1 } else { u16::MAX };
            // The path may lower the MSS in one of two SYNs. A reused port rarely has another MSS.
            *place = (connection, size.min(before));
        }
    }
    /// Maximum payload of a segment with the headers of this packet.
    pub(crate) fn segment(&self, connection: u64, packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> u32 {
        let headers = packet.ip_bytes.saturating_sub(tcp.payload_bytes);
        let fixed = TCP_HEADER + if packet.identification.is_some() { 20 } else { 40 };
        let known = self.places.get(connection as usize % PLACES).filter(|place| place.0 == connection);
        let size = known.map_or(ETHERNET_MTU - fixed, |place| u32::from(place.1));
        // The MSS excludes options (RFC 6691).
        size.saturating_sub(headers.saturating_sub(fixed)).max(1)
    }
}

/// MSS in the options of a SYN, if it is the first option.
fn offered(options: &[u8]) -> Option<u16> {
    let rest = options.strip_prefix(&SEGMENT_SIZE)?;
    rest.first_chunk().map(|size| u16::from_be_bytes(*size)).filter(|size| *size > 0)
}

/// The segments of a packet with more payload than a segment can have.
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
            // Hardware and kernel increment it from segment to segment.
            identification: whole.identification.map(|id| id.wrapping_add(number as u16)),
            ip_bytes: headers + piece.payload_bytes,
            transport: Transport::Tcp(piece),
            ..whole.clone()
        }
    })
}
