//! Linux's receive window tuning (`tcp_rcv_space_adjust`, `tcp_grow_window`), modeled because each
//! segment is ACKed while the window grows: in slow start and in record rounds.
use crate::Data;
use fathom_units::{Duration, Time};

/// Linux: `tcp_rmem`, initially 128 KiB, 5/8 payload with packets of 1448 bytes; half is offered.
const FIRST_OFFER: u64 = 65_535;
const FIRST_LIMIT: u64 = 81_920;
/// Payload of a segment without options, which Linux uses here.
const FULL_SEGMENT: u64 = 1_460;
/// Segments of an initial window, and those added to the window as a margin.
const FIRST_SEGMENTS: u64 = 10;
const MARGIN_SEGMENTS: u64 = 16;

#[derive(Clone, Debug)]
pub(super) struct Tuning {
    /// The window offered, and its current limit.
    offer: u64,
    limit: u64,
    /// Maximum bytes per round, and where the current round began.
    most: u64,
    begin: (u64, Time),
    /// Smoothed round-trip time, and the one-way delay of the SYN.
    rtt: Duration,
    first_delay: Duration,
}

impl Tuning {
    pub(super) const fn new() -> Self {
        Tuning {
            offer: FIRST_OFFER,
            limit: FIRST_LIMIT,
            most: FIRST_SEGMENTS * FULL_SEGMENT,
            begin: (0, Time::ZERO),
            rtt: Duration::ZERO,
            first_delay: Duration::ZERO,
        }
    }
    pub(super) fn begin(&mut self, syn: &Data, now: Time) {
        self.first_delay = now.saturating_since(syn.sent_at);
        self.begin = (0, now);
    }
    /// Data arrived, completely up to `next`. `first_rtt`: the handshake's. True if the window
    /// grows.
    pub(super) fn data(&mut self, data: &Data, next: u64, first_rtt: Duration, now: Time) -> bool {
        // Queueing in the reverse direction is not included; Linux measures it with timestamps.
        let queued = now.saturating_since(data.sent_at).saturating_sub(self.first_delay);
        let sample = first_rtt + queued;
        let is_least = self.rtt == Duration::ZERO || sample < self.rtt;
        self.rtt = if is_least { sample } else { self.rtt - self.rtt / 8 + sample / 8 };
        let grows = self.offer < self.limit;
        if grows {
            self.offer = self.limit.min(self.offer + 2 * FULL_SEGMENT);
        }
        // The limit rises when the application reads, which is after the ACK.
        if now.saturating_since(self.begin.1) >= self.rtt {
            self.end_round(next, now);
        }
        grows
    }
    /// The new limit: twice the bytes received, to survive losses, plus a triple share for growth.
    fn end_round(&mut self, next: u64, now: Time) {
        let came = next - self.begin.0;
        if came > self.most {
            let window = 2 * came + MARGIN_SEGMENTS * FULL_SEGMENT;
            let more = u128::from(window) * u128::from(came - self.most) / u128::from(self.most);
            self.limit = self.limit.max(window + 2 * u64::try_from(more).unwrap_or(u64::MAX / 4));
            self.most = came;
        }
        self.begin = (next, now);
    }
}
