//! Segments and ACKs.
use fathom_units::{Ecn, Time};

/// A data segment, or the SYN (sequence 0 without payload; data starts at 0 too).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// First byte, as an offset from the start of the connection.
    pub seq: u64,
    /// Payload bytes; 0 only for a SYN.
    pub len: u32,
    /// TSval: when it was sent. RFC 7323.
    pub sent_at: Time,
    /// Opens the connection.
    pub syn: bool,
    /// Congestion window reduced (RFC 3168).
    pub cwr: bool,
    /// The last segment of a batch. Linux sets PSH on it, and the receiver answers at once.
    pub push: bool,
    /// The codepoint with which it was sent; queues may mark ECT instead of dropping it.
    pub ecn: Ecn,
}

/// Bytes received beyond the cumulative ACK, as offsets from it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackRange {
    /// First byte, minus [`Ack::ack`].
    pub start: u32,
    /// Byte after the last, minus [`Ack::ack`]; unused ranges are empty.
    pub end: u32,
}

/// An ACK, or the SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// All bytes before this one have been received.
    pub ack: u64,
    /// SACK blocks, newest first (RFC 2018): three fit next to a timestamp.
    pub sack: [SackRange; 3],
    /// The first range is a duplicate (D-SACK, RFC 2883): the segment was spurious.
    pub dsack: bool,
    /// TSecr: `sent_at` of the answered segment (RFC 7323 section 4.3), for RTT and Eifel.
    pub echo: Time,
    /// When that segment arrived, by the receiver's clock: one-way delay, for LEDBAT.
    pub received_at: Time,
    /// ECN echo (RFC 3168; with DCTCP's receiver RFC 8257 section 3.2).
    pub ece: bool,
    /// Receive window in bytes, from `ack`.
    pub window: u64,
    /// Answers a SYN.
    pub syn: bool,
}
