//! What happens in a flow, as the capture shows it.
//!
//! Times are nanoseconds of the capture's clock (since 1970 in most files), which may step. Sequence numbers are unwrapped: 64 bits,
//! that of the first SYN (or of the first byte seen, less one) is 0.
use fathom_capture::Stamps;
use fathom_run::ProbeKind;

/// A flow by its number, from 0 in the order of first packets; that of one which was forgotten is given again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number that people and files know it by, from 1.
    pub const fn number(self) -> u32 {
        self.0.saturating_add(1)
    }
    /// The flow of a number that people and files know it by; `None` for 0.
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
    /// The one that opened the connection; the sender of the first packet where no SYN was seen.
    A,
    /// The other.
    B,
}

impl End {
    /// The other end.
    pub const fn other(self) -> End {
        match self {
            End::A => End::B,
            End::B => End::A,
        }
    }
}

/// When a packet passed the capture point, and which it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Nanoseconds of the capture's clock. The time between any two is to fit: within 2^62 of 0, as [`fathom_capture::Frame`] has it.
    pub at: i64,
    /// Number of the frame in its file, from 1, as in Wireshark.
    pub frame: u64,
}

/// What a segment is to those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentKind {
    /// Bytes that were not sent before.
    New,
    /// Bytes that passed here before, or (downstream of the loss) fill a hole and carry a newer timestamp than what came after the hole.
    Retransmission(RetransmissionCause),
    /// Fills a hole with an older timestamp: the network changed the order.
    Reordered,
    /// The very same packet again, by the network.
    Duplicate,
    /// One byte before what is next, to hear from the other end.
    KeepAlive,
    /// Into a closed window, to learn when it opens.
    WindowProbe,
}

/// Why a segment was sent again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RetransmissionCause {
    /// Duplicate ACKs or SACK told of the loss of what was sent once (by number, RFC 6675, or by time, RFC 8985).
    Fast,
    /// What only RFC 8985 sends again: by RACK what a repair overtook, and repairs that were lost too; the tail as a loss probe.
    Probe,
    /// The retransmission timer.
    Timeout,
    /// The original had arrived: an ACK of before its arrival, D-SACK or the timestamps say so.
    Spurious,
    /// It cannot be told.
    Unknown,
}

/// A segment with data, SYN or FIN.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When and which.
    pub times: Times,
    /// Who sent it.
    pub end: End,
    /// Its first byte.
    pub start: u64,
    /// After its last byte; SYN and FIN count one.
    pub stop: u64,
    /// Bytes of its IP packet.
    pub ip_bytes: u32,
    /// What it is to those before it.
    pub kind: SegmentKind,
    /// Its timestamps.
    pub stamps: Option<Stamps>,
    /// Its ECN bits.
    pub ecn: u8,
    /// Bytes sent, not acknowledged and not selectively acknowledged, this segment included.
    pub outstanding_bytes: u64,
    /// The window that the other end offers, scaled, if known.
    pub window_bytes: Option<u64>,
}

/// A segment with ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// When and which.
    pub times: Times,
    /// Who sent it.
    pub end: End,
    /// All before this has arrived.
    pub acknowledgement: u64,
    /// Bytes that this acknowledges first, cumulatively or selectively.
    pub newly_bytes: u64,
    /// Its SACK blocks.
    pub blocks: &'a [(u64, u64)],
    /// It repeats the one before (RFC 5681 section 2).
    pub is_duplicate: bool,
    /// The window it offers, scaled.
    pub window_bytes: u64,
    /// Its timestamps.
    pub stamps: Option<Stamps>,
    /// It echoes congestion (ECE).
    pub echoes_congestion: bool,
}

/// How a round trip was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RttMethod {
    /// A segment, and the ACK of its last byte.
    Sequence,
    /// A timestamp, and its first echo.
    Timestamps,
    /// SYN to SYN+ACK, or SYN+ACK to ACK.
    Handshake,
}

/// Whether it is known which transmission was answered (Karn and Partridge 1987).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RttValidity {
    /// It was sent once.
    Clean,
    /// It was sent more than once, or the ACK waited for a repair of what is before it; or (SACK) the ACK was made by what was sent later; or
    /// (timestamps of an ACK without data) the end that answered had been silent, so that it may have had nothing to send.
    Ambiguous,
}

/// A round trip from the capture point to one end and back.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// The answer.
    pub times: Times,
    /// When what was answered passed the capture point, ns.
    pub sent_at: i64,
    /// Which frame that was.
    pub sent_frame: u64,
    /// Who sent what was answered: the round trip is to the other end.
    pub end: End,
    /// How it was found.
    pub method: RttMethod,
    /// Whether it counts.
    pub validity: RttValidity,
    /// Timestamps of the answer: its TSval is the other end's clock when it answered.
    pub stamps: Option<Stamps>,
}

/// A segment that was sent and did not arrive, told when it is known (at the repair).
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When and in which frame the repair passed.
    pub repair: Times,
    /// When and in which frame the lost original passed; `None` if it was lost before the capture point.
    pub original: Option<Times>,
    /// Who sent it.
    pub end: End,
    /// Its first byte.
    pub start: u64,
    /// After its last byte.
    pub stop: u64,
    /// How the sender learned.
    pub cause: RetransmissionCause,
}

/// How it is known that a repair was needless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SpuriousProof {
    /// The ACK echoes a timestamp of before the repair (RFC 3522).
    Timestamps,
    /// The receiver tells that it has the bytes twice (RFC 2883).
    DuplicateSack,
    /// The ACK came sooner after the repair than any answer can.
    TooSoon,
}

/// A repair, told as one before, was needless: its original arrived.
#[derive(Clone, Copy, Debug)]
pub struct Spurious {
    /// The ACK that proves it.
    pub times: Times,
    /// When and in which frame the repair passed.
    pub repair: Times,
    /// Who sent it.
    pub end: End,
    /// Its first byte.
    pub start: u64,
    /// After its last byte.
    pub stop: u64,
    /// As what it was told.
    pub cause: RetransmissionCause,
    /// How it is known.
    pub proof: SpuriousProof,
}

/// A question, and its answer if one came.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Of which kind.
    pub kind: ProbeKind,
    /// Who asked, and who was asked. The port of one who sent an echo request is its identifier.
    pub ends: [(fathom_capture::Address, u16); 2],
    /// The question, as it passed first.
    pub asked: Times,
    /// The answer; `None` is told at the end of the capture, or when too many wait.
    pub answered: Option<Times>,
    /// `Ambiguous` if it was asked more than once, and for the spin bit.
    pub validity: RttValidity,
}

/// Is told what happens. Each default does nothing, and costs nothing.
///
/// Of one packet in this order: `opened`, `packet`; what its ACK brings (`spurious`, `round_trip`, then `ack` or `unchanged_ack`); what it
/// sends (`lost`, `segment`). Of one that is not TCP: `non_tcp`.
pub trait Sink {
    /// A packet of the capture passed, of whichever flow: called at least for the first packet, where shards share a capture, before
    /// anything else is reported, so that all sinks know when it began.
    fn capture_started(&mut self, _times: Times) {}
    /// A flow's first packet: who are its ends (address and port of A, then of B).
    fn opened(&mut self, _flow: FlowId, _ends: [(fathom_capture::Address, u16); 2], _times: Times) {}
    /// A packet of a flow, before what it means.
    fn packet(&mut self, _flow: FlowId, _header: &crate::Header) {}
    /// A packet that is not TCP.
    fn non_tcp(&mut self, _packet: &fathom_capture::Packet<'_>, _times: Times) {}
    /// A segment passed.
    fn segment(&mut self, _flow: FlowId, _segment: &Segment) {}
    /// An ACK passed.
    fn ack(&mut self, _flow: FlowId, _ack: &Ack<'_>) {}
    /// An ACK passed with data that says what the one before said: to most no other than the rest.
    #[inline]
    fn unchanged_ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        self.ack(flow, ack);
    }
    /// A round trip is complete.
    fn round_trip(&mut self, _flow: FlowId, _round_trip: &RoundTrip) {}
    /// A loss is known.
    fn lost(&mut self, _flow: FlowId, _lost: &Lost) {}
    /// A repair was needless: its `lost`, if it was told, is void.
    fn spurious(&mut self, _flow: FlowId, _spurious: &Spurious) {}
    /// Something else than TCP was asked, and answered or not.
    fn probe(&mut self, _probe: &Probe) {}
    /// A flow of one packet is forgotten, as there are too many such: nothing more is told of it, it has no summary, and the next flow
    /// may have its number.
    fn forgotten(&mut self, _flow: FlowId) {}
}

impl Sink for () {}

/// Tells all that is told to the sinks inside, one after the other.
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
