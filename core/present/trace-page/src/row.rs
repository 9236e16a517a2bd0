//! What is kept of a segment, an ACK and a round trip.
use crate::thin::Row;
use fathom_flow::{RetransmissionCause, RttMethod, RttValidity, SegmentKind};

/// The bits of [`SegmentRow::kind`] that tell what it is.
pub(crate) const KIND_MASK: u8 = 0x0f;
/// The repair of what had arrived.
pub(crate) const SPURIOUS: u8 = 4;
/// It carries Congestion Experienced (RFC 3168 section 5).
pub(crate) const MARKED: u8 = 0x10;

/// The page's number of a kind: in step with `ui/src/kind.ts`.
pub(crate) const fn kind_code(kind: SegmentKind) -> u8 {
    match kind {
        SegmentKind::New => 0,
        SegmentKind::Retransmission(RetransmissionCause::Fast) => 1,
        SegmentKind::Retransmission(RetransmissionCause::Probe) => 2,
        SegmentKind::Retransmission(RetransmissionCause::Timeout) => 3,
        SegmentKind::Retransmission(RetransmissionCause::Spurious) => SPURIOUS,
        SegmentKind::Retransmission(RetransmissionCause::Unknown) => 5,
        SegmentKind::Reordered => 6,
        SegmentKind::Duplicate => 7,
        SegmentKind::KeepAlive => 8,
        SegmentKind::WindowProbe => 9,
    }
}

/// A segment with data, SYN or FIN; or several in a row, as the range that they cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentRow {
    /// Nanoseconds since the page's begin.
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) bytes: u32,
    pub(crate) frame: u32,
    pub(crate) outstanding: u32,
    pub(crate) kind: u8,
}

impl Row for SegmentRow {
    fn is_rare(&self) -> bool {
        self.kind != 0
    }
    fn merge(&mut self, next: &Self) {
        let stop = (self.start + u64::from(self.bytes)).max(next.start + u64::from(next.bytes));
        self.start = self.start.min(next.start);
        self.bytes = saturate(stop - self.start);
        self.outstanding = self.outstanding.max(next.outstanding);
    }
}

/// An ACK; or the last of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckRow {
    pub(crate) at: u64,
    pub(crate) acknowledgement: u64,
    /// Bytes that arrived until then, selectively acknowledged ones included.
    pub(crate) delivered: u64,
    pub(crate) window: u32,
    pub(crate) frame: u32,
    /// Its first SACK block, which is the newest (RFC 2018 section 4): bytes from the ACK to its
    /// start, and its length.
    pub(crate) block: (u32, u32),
}

impl Row for AckRow {
    fn is_rare(&self) -> bool {
        false
    }
    fn merge(&mut self, next: &Self) {
        *self = *next;
    }
}

/// A round trip; or the shortest and the longest of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TripRow {
    pub(crate) at: u64,
    pub(crate) low_ns: u64,
    pub(crate) high_ns: u64,
}

impl Row for TripRow {
    fn is_rare(&self) -> bool {
        false
    }
    fn merge(&mut self, next: &Self) {
        self.low_ns = self.low_ns.min(next.low_ns);
        self.high_ns = self.high_ns.max(next.high_ns);
    }
}

/// The tables of round trips, in the order in which they are written.
pub(crate) const TRIP_TABLES: usize = 3;

/// The table for a round trip: by sequence numbers, by timestamps, and those of which it is not
/// known what was answered.
pub(crate) const fn trip_table(method: RttMethod, validity: RttValidity) -> usize {
    match (validity, method) {
        (RttValidity::Ambiguous, _) => 2,
        (RttValidity::Clean, RttMethod::Timestamps) => 1,
        (RttValidity::Clean, RttMethod::Sequence | RttMethod::Handshake) => 0,
    }
}

/// What is rare and no segment. The numbers follow those of the segments' kinds: in step with
/// `ui/src/kind.ts`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A segment that did not arrive.
    Loss = 32,
    /// The other end takes no more bytes for now.
    ZeroWindow = 33,
    /// The other end begins to echo congestion.
    CongestionEcho = 34,
    /// RST.
    Reset = 35,
    /// The receiver threw away what it had selectively acknowledged.
    Reneging = 36,
}

/// An event, with the frame that repaired it where that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow {
    pub(crate) at: u64,
    pub(crate) frame: u32,
    pub(crate) what: Event,
    pub(crate) start: u64,
    pub(crate) bytes: u32,
    pub(crate) repair_frame: u32,
}

/// As much of it as 32 bits hold: a length of more is drawn as 4 GB.
pub(crate) fn saturate(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
