//! A copy of a capture that can be shared: headers alone, with other addresses, that gives the same diagnosis.
//!
//! Nothing is blotted out; each packet is written anew out of what is known to be harmless. Link layers, tunnels, payload, checksums
//! and options that may identify anyone are not among that. What stays: times, lengths, ports, sequence numbers, windows, TCP
//! timestamps, hop limits, DSCP and ECN, the identifiers by which answers are matched to questions, and for QUIC the bits that
//! everyone on the path may read (RFC 9000 section 17, RFC 9312); and of Linux's `any` the number of the interface, or whether a packet came or
//! went. Frames keep their numbers. What the capturing system counted as
//! dropped is lost: pcap has no place for it.
mod address;
mod cooked;
mod header;
mod option;
mod siphash;

use crate::{Frame, LinkType, NotIp, Packet, pcap_header, pcap_record_header};
use address::Addresses;
use alloc::vec::Vec;

/// Writes such a copy, as pcap.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    addresses: Addresses,
    /// What stands before IP: nothing, or the header of Linux's `any`, which tells where a packet was seen.
    link: LinkType,
    /// A packet in the making.
    packet: Vec<u8>,
}

/// Stands for a frame without IP: no version of IP begins so.
const NOT_IP: u8 = 0;

impl Anonymizer {
    /// For a capture whose first frame is of type `link`. With one key addresses are replaced in one way, in all files. Who has the key, or
    /// knows the true addresses of some packets, can undo it for those and for the networks they are in: use a random one, and keep it only
    /// as long as it is needed.
    pub fn new(key: [u8; 16], link: LinkType) -> Self {
        let link = if LinkType::COOKED.contains(&link) { link } else { LinkType::RAW };
        Anonymizer { addresses: Addresses::new(key), link, packet: Vec::new() }
    }
    /// What the file begins with.
    pub fn header(&self) -> [u8; 24] {
        pcap_header(self.link)
    }
    /// Appends to `into` what may be shared of `frame`, in which `found` was found.
    pub fn write(&mut self, frame: &Frame<'_>, found: &Result<Packet<'_>, NotIp>, into: &mut Vec<u8>) {
        self.packet.clear();
        let mut original_len = frame.original_len;
        match found {
            Ok(packet) => {
                cooked::write(self.link, frame, Some(packet), &mut self.packet);
                let whole = packet.ip_bytes.saturating_add(self.packet.len() as u32);
                header::write(packet, &mut self.addresses, &mut self.packet);
                // What is longer than IP's length can say is known by the frame's.
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
    /// A file with frames of several types: the header before IP has another length than it had.
    fn is_other(&self, link: LinkType) -> bool {
        self.link != LinkType::RAW && self.link != link
    }
}
