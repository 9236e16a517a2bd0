//! The part of a TCP packet that matters to its flow.
use crate::flag;
use crate::{End, Times};
use fathom_capture::{Packet, Stamps, TcpHeader};

/// A TCP packet without addresses, options and payload, in one cache line for batching.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Header {
    /// Capture time and frame number.
    pub times: Times,
    /// Sequence number of the first byte or of the SYN.
    pub sequence: u32,
    /// Acknowledgment number; valid if the ACK flag is set.
    pub acknowledgement: u32,
    /// TCP timestamps.
    pub stamps: Option<Stamps>,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// Size of the frame on the wire.
    pub wire_bytes: u32,
    /// Payload bytes sent.
    pub payload_bytes: u32,
    /// Payload bytes stored in the capture.
    pub stored_bytes: u32,
    /// Flags, as in [`TcpHeader::flags`].
    pub flags: u16,
    /// Window field, not scaled.
    pub window: u16,
    /// IPv4 identification, or 0 if it has no meaning (RFC 6864).
    pub identification: u16,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// ECN bits.
    pub ecn: u8,
    /// Sender.
    pub end: End,
    /// In a batch: whether it has stored options.
    pub(crate) has_options: bool,
    /// In a batch: index of the flow's next packet.
    pub(crate) next: u16,
}

const _: () = assert!(size_of::<Header>() == 64);

/// Index of no packet.
pub(crate) const NONE: u16 = u16::MAX;

impl Header {
    /// Creates the header of a packet sent by `end`.
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
    /// Length in sequence space: data, SYN and FIN.
    #[inline]
    pub const fn length(&self) -> u64 {
        let marks = ((self.flags & flag::SYN) >> 1) + (self.flags & flag::FIN);
        self.payload_bytes as u64 + marks as u64
    }
    /// TSval, or 0.
    pub(crate) fn stamp(&self) -> u32 {
        self.stamps.map_or(0, |stamps| stamps.value)
    }
}

/// A packet being processed, with its significant options.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) header: &'a Header,
    /// Options, as [`significant_options`] returns them.
    pub(crate) options: &'a [u8],
    /// Length, as [`Header::length`] returns it.
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

/// Size of the timestamp option with its padding.
const STAMPS_ALONE: usize = 12;

/// Options that may contain more than timestamps. Most headers have none or timestamps alone (RFC
/// 7323 appendix A). All options of a SYN are significant.
#[inline]
pub(crate) fn significant_options<'a>(tcp: &TcpHeader<'a>) -> Option<&'a [u8]> {
    let usual = if tcp.stamps.is_some() { STAMPS_ALONE } else { 0 };
    (tcp.options.len() != usual || tcp.flags & flag::SYN != 0).then_some(tcp.options)
}
