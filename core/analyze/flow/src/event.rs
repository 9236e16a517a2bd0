//! Events of a flow, as seen in the capture.
//!
//! Times are nanoseconds of the capture's clock (since 1970 in most files), which may step.
//! Sequence numbers are unwrapped to 64 bits; that of the first SYN (or the one before the first
//! captured byte) is 0.
use fathom_capture::Stamps;
use fathom_run::ProbeKind;

/// Identifier of a flow, from 0 in the order of first packets; reused after a flow is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The flow number shown to users and used in files, from 1.
    pub const fn number(self) -> u32 {
        self.0.saturating_add(1)
    }
    /// The flow with a number shown to users; `None` for 0.
    pub const fn from_number(number: u32) -> Option<FlowId> {
        match number {
            0 => None,
            number => Some(FlowId(number - 1)),
        }
    }
}

/// One end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum End {
    /// The initiator of the connection; the sender of the first packet if no SYN was captured.
    A,
    /// The responder.
    B,
}

impl End {
    /// The opposite end.
    pub const fn other(self) -> End {
        match self {
            End::A => End::B,
            End::B => End::A,
        }
    }
}

/// Capture time of a packet, and its frame number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Nanoseconds of the capture's clock, within 2^62 of 0, so that differences do not overflow;
    /// see [`fathom_capture::Frame`].
    pub at: i64,
    /// Number of the frame in its file, from 1, as in Wireshark.
    pub frame: u64,
}

/// Relation of a segment to earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentKind {
    /// New data.
    New,
    /// Data that was captured before, or (downstream of the loss) that fills a hole and carries a
    /// newer timestamp than the segment after the hole.
    Retransmission(RetransmissionCause),
    /// Fills a hole with an older timestamp: the network reordered it.
    Reordered,
    /// A copy of a packet, made by the network.
    Duplicate,
    /// Keep-alive: one byte before the next one, to provoke an answer.
    KeepAlive,
    /// Probe of a closed window.
    WindowProbe,
}

/// Cause of a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RetransmissionCause {
    /// Fast retransmit: duplicate ACKs or SACK reported the loss of a segment that was sent once
    /// (by count, RFC 6675, or by time, RFC 8985).
    Fast,
    /// Only possible with RFC 8985: RACK, including lost retransmissions, or a tail loss probe.
    Probe,
    /// Retransmission timeout.
    Timeout,
    /// Spurious: the original had arrived, as shown by an earlier ACK, D-SACK or timestamps.
    Spurious,
    /// The cause is unknown.
    Unknown,
}

/// A segment with data, SYN or FIN.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Time and frame.
    pub times: Times,
    /// Sender.
    pub end: End,
    /// First byte.
    pub start: u64,
    /// Byte after the last; SYN and FIN count as one.
    pub stop: u64,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// Relation to earlier segments.
    pub kind: SegmentKind,
    /// TCP timestamps.
    pub stamps: Option<Stamps>,
    /// ECN bits.
    pub ecn: u8,
    /// Bytes in flight with this segment: neither acknowledged nor selectively acknowledged.
    pub outstanding_bytes: u64,
    /// Receive window offered by the other end, scaled, if known.
    pub window_bytes: Option<u64>,
}

/// A segment with ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Time and frame.
    pub times: Times,
    /// Sender.
    pub end: End,
    /// Acknowledgment number: all bytes before this one have arrived.
    pub acknowledgement: u64,
    /// Bytes acknowledged for the first time, cumulatively or selectively.
    pub newly_bytes: u64,
    /// SACK blocks.
    pub blocks: &'a [(u64, u64)],
    /// It is a duplicate ACK (RFC 5681 section 2).
    pub is_duplicate: bool,
    /// Receive window offered, scaled.
    pub window_bytes: u64,
    /// TCP timestamps.
    pub stamps: Option<Stamps>,
    /// It echoes congestion (ECE).
    pub echoes_congestion: bool,
}

/// Method of a round-trip time sample.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RttMethod {
    /// From a segment to the ACK of its last byte.
    Sequence,
    /// From a timestamp to its first echo.
    Timestamps,
    /// From SYN to SYN+ACK, or from SYN+ACK to ACK.
    Handshake,
}

/// Whether it is known which transmission was answered (Karn and Partridge 1987).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RttValidity {
    /// The answered segment was sent once.
    Clean,
    /// The segment was sent more than once; or the ACK waited for the retransmission of an earlier
    /// segment; or (SACK) a later transmission triggered the ACK; or (timestamps of an ACK without
    /// data) the answering end had been silent, so that it may have had nothing to send.
    Ambiguous,
}

/// A round-trip time sample, from the capture point to one end and back.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// The answer.
    pub times: Times,
    /// Capture time of the answered packet, ns.
    pub sent_at: i64,
    /// Frame number of the answered packet.
    pub sent_frame: u64,
    /// Sender of the answered packet; the round trip is to the other end.
    pub end: End,
    /// Method.
    pub method: RttMethod,
    /// Validity.
    pub validity: RttValidity,
    /// Timestamps of the answer. TSval is the other end's clock when it answered.
    pub stamps: Option<Stamps>,
}

/// A lost segment, reported when its retransmission is captured.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time and frame of the retransmission.
    pub repair: Times,
    /// Time and frame of the original; `None` if it was lost before the capture point.
    pub original: Option<Times>,
    /// Sender.
    pub end: End,
    /// First byte.
    pub start: u64,
    /// Byte after the last.
    pub stop: u64,
    /// Cause of the retransmission.
    pub cause: RetransmissionCause,
}

/// Evidence that a retransmission was spurious.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SpuriousProof {
    /// The ACK echoes a timestamp from before the retransmission (RFC 3522).
    Timestamps,
    /// The receiver reports that it has the bytes twice (RFC 2883).
    DuplicateSack,
    /// The ACK arrived too soon after the retransmission to be an answer to it.
    TooSoon,
}

/// A retransmission reported earlier that turned out to be spurious, because the original arrived.
#[derive(Clone, Copy, Debug)]
pub struct Spurious {
    /// The ACK that proves it.
    pub times: Times,
    /// Time and frame of the retransmission.
    pub repair: Times,
    /// Sender.
    pub end: End,
    /// First byte.
    pub start: u64,
    /// Byte after the last.
    pub stop: u64,
    /// Cause under which it was reported.
    pub cause: RetransmissionCause,
    /// Evidence.
    pub proof: SpuriousProof,
}

/// A request of a protocol other than TCP, with its response if one was captured.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Kind of request.
    pub kind: ProbeKind,
    /// Client and server. For an echo request the client's port is the identifier.
    pub ends: [(fathom_capture::Address, u16); 2],
    /// First transmission of the request.
    pub asked: Times,
    /// Response; `None` at the end of the capture, or if too many requests are outstanding.
    pub answered: Option<Times>,
    /// `Ambiguous` if the request was sent more than once, and for the spin bit.
    pub validity: RttValidity,
}

/// Receives events. The default implementations do nothing and cost nothing.
///
/// Order of events for one TCP packet: `opened`, `packet`; the effects of its ACK (`spurious`,
/// `round_trip`, then `ack` or `unchanged_ack`); the effects of its data (`lost`, `segment`). For
/// other packets: `non_tcp`.
pub trait Sink {
    /// A packet of any flow was captured. Called at least for the first packet, before any other
    /// event, so that all sinks know the start of the capture even if shards divide it.
    fn capture_started(&mut self, _times: Times) {}
    /// The first packet of a flow, with address and port of A and B.
    fn opened(&mut self, _flow: FlowId, _ends: [(fathom_capture::Address, u16); 2], _times: Times) {}
    /// A packet of a flow, before its analysis.
    fn packet(&mut self, _flow: FlowId, _header: &crate::Header) {}
    /// A packet that is not TCP.
    fn non_tcp(&mut self, _packet: &fathom_capture::Packet<'_>, _times: Times) {}
    /// A segment.
    fn segment(&mut self, _flow: FlowId, _segment: &Segment) {}
    /// An ACK.
    fn ack(&mut self, _flow: FlowId, _ack: &Ack<'_>) {}
    /// An ACK in a data packet that repeats the previous ACK. By default handled like any ACK.
    #[inline]
    fn unchanged_ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        self.ack(flow, ack);
    }
    /// A round-trip time sample.
    fn round_trip(&mut self, _flow: FlowId, _round_trip: &RoundTrip) {}
    /// A loss was detected.
    fn lost(&mut self, _flow: FlowId, _lost: &Lost) {}
    /// A retransmission was spurious. Its `lost` event, if there was one, is void.
    fn spurious(&mut self, _flow: FlowId, _spurious: &Spurious) {}
    /// A request of a protocol other than TCP, with or without response.
    fn probe(&mut self, _probe: &Probe) {}
    /// Forgot a flow of one packet for lack of room: no summary, and its identifier may be reused.
    fn forgotten(&mut self, _flow: FlowId) {}
}

impl Sink for () {}

/// Forwards all events to several sinks in turn.
macro_rules! forward_each {
    ($each:ident) => {
        #[inline]
        fn capture_started(&mut self, times: Times) {
            $each!(self, capture_started(times));
        }
        fn opened(&mut self, flow: FlowId, ends: [(fathom_capture::Address, u16); 2], times: Times) {
            $each!(self, opened(flow, ends, times));
        }
        fn packet(&mut self, flow: FlowId, header: &crate::Header) {
            $each!(self, packet(flow, header));
        }
        fn non_tcp(&mut self, packet: &fathom_capture::Packet<'_>, times: Times) {
            $each!(self, non_tcp(packet, times));
        }
        fn segment(&mut self, flow: FlowId, segment: &Segment) {
            $each!(self, segment(flow, segment));
        }
        fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
            $each!(self, ack(flow, ack));
        }
        fn unchanged_ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
            $each!(self, unchanged_ack(flow, ack));
        }
        fn round_trip(&mut self, flow: FlowId, round_trip: &RoundTrip) {
            $each!(self, round_trip(flow, round_trip));
        }
        fn lost(&mut self, flow: FlowId, lost: &Lost) {
            $each!(self, lost(flow, lost));
        }
        fn spurious(&mut self, flow: FlowId, spurious: &Spurious) {
            $each!(self, spurious(flow, spurious));
        }
        fn probe(&mut self, probe: &Probe) {
            $each!(self, probe(probe));
        }
        fn forgotten(&mut self, flow: FlowId) {
            $each!(self, forgotten(flow));
        }
    };
}

macro_rules! of_two {
    ($sinks:ident, $event:ident($($what:expr),*)) => {
        $sinks.0.$event($($what),*);
        $sinks.1.$event($($what),*);
    };
}

macro_rules! of_one_or_none {
    ($sink:ident, $event:ident($($what:expr),*)) => {
        if let Some(sink) = $sink {
            sink.$event($($what),*);
        }
    };
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    forward_each!(of_two);
}

impl<S: Sink> Sink for Option<S> {
    forward_each!(of_one_or_none);
}
