//! What of a TCP packet matters to its flow.
use crate::flag;
use crate::{End, Times};
use fathom_capture::{Packet, Stamps, TcpHeader};

/// A TCP packet without its addresses, options and payload: a cache line, so that many can wait for others of their flow.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// When it passed, in which frame.
    pub times: Times,
    /// Sequence number of the first byte (or of SYN).
    pub sequence: u32,
    /// Acknowledgement number; it counts if the ACK flag is set.
    pub acknowledgement: u32,
    /// Timestamps.
    pub stamps: Option<Stamps>,
    /// Bytes of the IP packet.
    pub ip_bytes: u32,
    /// Bytes of the frame as it was sent.
    pub wire_bytes: u32,
    /// Bytes of payload as they were sent.
    pub payload_bytes: u32,
    /// Bytes of payload that are stored.
    pub stored_bytes: u32,
    /// As in [`TcpHeader::flags`].
    pub flags: u16,
    /// Window as in the header, not scaled.
    pub window: u16,
    /// Identification of IPv4, or 0, which tells nothing (RFC 6864).
    pub identification: u16,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// The two ECN bits.
    pub ecn: u8,
    /// Who sent it.
    pub end: End,
    /// While it waits: whether its options do, too.
    pub(crate) has_options: bool,
    /// While it waits: the number of the next packet of its flow.
    pub(crate) next: u16,
}

const _: () = assert!(size_of::<Header>() == 64);

/// No packet's number.
pub(crate) const NONE: u16 = u16::MAX;

impl Header {
    /// Of a packet with this TCP header, which that end sent.
    #[inline]
    pub fn new(times: Times, end: End, packet: &Packet<'_>, tcp: &TcpHeader<'_>) -> Self {
        Header {
            times,
            sequence: tcp.sequence,
            acknowledgement: tcp.acknowledgement,
            stamps: tcp.stamps,
            ip_bytes: packet.ip_bytes,
            wire_bytes: packet.wire_bytes,
            payload_bytes: tcp.payload_bytes,
            stored_bytes: tcp.payload.len() as u32,
            flags: tcp.flags,
            window: tcp.window,
            identification: packet.identification.unwrap_or(0),
            hop_limit: packet.hop_limit,
            ecn: packet.ecn,
            end,
            has_options: false,
            next: NONE,
        }
    }
    pub(crate) const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
    /// Sequence numbers it takes: of data, SYN and FIN.
    #[inline]
    pub const fn length(&self) -> u64 {
        // FIN and SYN are the two lowest bits.
        let marks = ((self.flags & flag::SYN) >> 1) + (self.flags & flag::FIN);
        self.payload_bytes as u64 + marks as u64
    }
    /// TSval, or 0.
    pub(crate) fn stamp(&self) -> u32 {
        self.stamps.map_or(0, |stamps| stamps.value)
    }
}

/// A packet that passes, with those of its options that tell more than timestamps.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) header: &'a Header,
    /// As [`significant_options`] gives them.
    pub(crate) options: &'a [u8],
    /// As [`Header::length`] gives it.
    pub(crate) length: u64,
}

impl<'a> Incoming<'a> {
    #[inline]
    pub(crate) fn new(header: &'a Header, options: &'a [u8]) -> Self {
        Incoming { header, options, length: header.length() }
    }
    pub(crate) const fn has(&self, flag: u16) -> bool {
        self.header.has(flag)
    }
}

/// Bytes of timestamps, with what makes them a multiple of four.
const STAMPS_ALONE: usize = 12;

/// The options of a header, if they may tell more than its timestamps: not the usual ones, which are none, or timestamps alone (RFC 7323
/// appendix A). Of a SYN all tell.
#[inline]
pub(crate) fn significant_options<'a>(tcp: &TcpHeader<'a>) -> Option<&'a [u8]> {
    let usual = if tcp.stamps.is_some() { STAMPS_ALONE } else { 0 };
    (tcp.options.len() != usual || tcp.flags & flag::SYN != 0).then_some(tcp.options)
}
