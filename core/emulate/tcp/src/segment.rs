//! What the two ends send each other.
use fathom_units::Time;

/// A segment with payload, or the SYN (sequence 0 and no payload: data begins at 0 too).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// First byte, counted from the start of the connection.
    pub seq: u64,
    /// Payload bytes; 0 only for a SYN.
    pub len: u32,
    /// TSval: when it was sent. RFC 7323.
    pub sent_at: Time,
    /// Opens the connection.
    pub syn: bool,
    /// Congestion window reduced (RFC 3168).
    pub cwr: bool,
    /// Ends a batch of several that left together. Linux sets PSH on it, and the receiver answers at once.
    pub push: bool,
    /// It goes out as ECT: marked instead of dropped where the queue can.
    pub ect: bool,
}

/// Bytes that arrived beyond the cumulative acknowledgement, as offsets from it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackRange {
    /// First byte, less [`Ack::ack`].
    pub start: u32,
    /// Byte after the last, less [`Ack::ack`]; an empty range says nothing.
    pub end: u32,
}

/// An acknowledgement, or the SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// All bytes before this one have arrived.
    pub ack: u64,
    /// Selective acknowledgements, the newest first (RFC 2018): three fit beside a timestamp.
    pub sack: [SackRange; 3],
    /// Bytes of the first range that had arrived before (D-SACK, RFC 2883): the segment was needless.
    pub dsack: bool,
    /// TSecr: `sent_at` of the segment that it answers (RFC 7323 section 4.3). For RTT and for Eifel detection.
    pub echo: Time,
    /// When the receiver got that segment, by the receiver's clock: one-way delay, for LEDBAT.
    pub received_at: Time,
    /// Echo of congestion experienced (RFC 3168; with DCTCP's receiver RFC 8257 section 3.2).
    pub ece: bool,
    /// Bytes that the receiver has room for beyond `ack`.
    pub window: u64,
    /// Answers a SYN.
    pub syn: bool,
}
