//! Writes an anonymous copy of a capture that gives the same diagnosis: headers, new addresses.
//!
//! Packets are not masked but rebuilt from fields known to be harmless. Link layers, tunnels,
//! payload, checksums and identifying options are not among them. Preserved are times, lengths,
//! ports, sequence numbers, windows, TCP timestamps, hop limits, DSCP and ECN, the identifiers that
//! match answers to requests, the QUIC bits that are visible to the path (RFC 9000 section 17, RFC
//! 9312), and of Linux's `any` device the interface number or direction. Frames keep their numbers.
//! The capturing system's drop counts are lost, because pcap has no field for them.
mod address;
mod cooked;
mod header;
mod option;
mod siphash;

use crate::{Frame, LinkType, NotIp, Packet, pcap_header, pcap_record_header};
use address::Addresses;
use alloc::vec::Vec;

/// Writes the anonymous copy, as pcap.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    addresses: Addresses,
    /// Raw IP, or the pseudo-header of Linux's `any` device, which says where a packet was seen.
    link: LinkType,
    /// Buffer for the current packet.
    packet: Vec<u8>,
}

/// Content of a frame without IP: no IP version starts with it.
const NOT_IP: u8 = 0;

impl Anonymizer {
    /// Creates it for a capture with `link` as its first link type. A key gives the same
    /// replacements in all files. Who has it, or knows some addresses, can undo replacements of
    /// these addresses and their networks: use a random key and delete it when it is no longer
    /// needed.
    pub fn new(key: [u8; 16], link: LinkType) -> Self {
        let link = if LinkType::COOKED.contains(&link) { link } else { LinkType::RAW };
        Anonymizer { addresses: Addresses::new(key), link, packet: Vec::new() }
    }
    /// The file header.
    pub fn header(&self) -> [u8; 24] {
        pcap_header(self.link)
    }
    /// Appends the anonymous copy of `frame` to `into`; `found` is its dissection.
    pub fn write(&mut self, frame: &Frame<'_>, found: &Result<Packet<'_>, NotIp>, into: &mut Vec<u8>) {
        self.packet.clear();
        let mut original_len = frame.original_len;
        match found {
            Ok(packet) => {
                cooked::write(self.link, frame, Some(packet), &mut self.packet);
                let whole = packet.ip_bytes.saturating_add(self.packet.len() as u32);
                header::write(packet, &mut self.addresses, &mut self.packet);
                // A length that does not fit in the IP header is given by the frame's length.
                if packet.ip_bytes > u32::from(u16::MAX) || self.is_other(frame.link) {
                    original_len = whole;
                }
            }
            Err(NotIp::Cut) => {}
            Err(_) => {
                cooked::write(self.link, frame, None, &mut self.packet);
                self.packet.push(NOT_IP);
            }
        }
        let stored = self.packet.len() as u32;
        into.extend_from_slice(&pcap_record_header(frame.at, original_len.max(stored), stored));
        into.extend_from_slice(&self.packet);
    }
    /// In a file with several link types, the header before IP may have a different length.
    fn is_other(&self, link: LinkType) -> bool {
        self.link != LinkType::RAW && self.link != link
    }
}
