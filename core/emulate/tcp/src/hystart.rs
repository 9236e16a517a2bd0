//! HyStart (Ha and Rhee 2011) as Linux has it: slow start ends before the queue overflows. It is not HyStart++ (RFC 9406).
use crate::{AckEvent, Window};
use fathom_units::{Duration, Time};

/// Below this window, in packets, no round has enough samples.
const LOW_WINDOW: u32 = 16;
/// ACKs no further apart than this belong to one train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// RTT samples of a round that are only gathered; the decision begins with the next.
const GATHERED_SAMPLES: u8 = 8;
/// Limits of the RTT's growth that ends slow start; between them it is an eighth of the smallest RTT.
const DELAY_THRESHOLD: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// Most that a burst from the sender may lengthen a train: the time of `BURST_BYTES` at the sender's rate, at most 1 ms.
const BURST_LIMIT: Duration = Duration::from_millis(1);
/// Four super-packets of 64 KiB.
const BURST_BYTES: u64 = 4 * 65_536;

/// Where CUBIC leaves slow start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SlowStartExit {
    /// At the first loss alone.
    Loss,
    /// By HyStart, as Linux has it (6.12.117): a round begins where the one before was acknowledged, from the first on.
    #[default]
    HyStart,
    /// By HyStart as Linux had it when packetdrill's scripts were written: rounds begin once the window is 16 packets. That is in the middle
    /// of a burst, and so do all rounds after it, behind half of the burst's queue: slow start ends early.
    HyStartFrom16,
}

/// What it knows of the current round.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    kind: SlowStartExit,
    round_start: Time,
    last_ack: Time,
    /// The round ends when this packet has been acknowledged.
    end: u64,
    round_min_rtt: Duration,
    samples: u8,
    found: bool,
}

impl HyStart {
    /// In slow start; the next ACK begins a round.
    pub(crate) const fn new(kind: SlowStartExit) -> Self {
        HyStart {
            kind,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            end: 0,
            round_min_rtt: Duration::MAX,
            samples: 0,
            found: false,
        }
    }
    /// As at the start of the connection.
    pub(crate) const fn forget(&mut self) {
        *self = HyStart::new(self.kind);
    }
    /// An RTT sample in slow start; `min_rtt` includes it. True if slow start is to end here.
    pub(crate) fn exits(
        &mut self,
        ack: &AckEvent,
        rtt: Duration,
        min_rtt: Duration,
        window: &Window,
    ) -> bool {
        let is_low = window.cwnd < LOW_WINDOW;
        if self.found || (is_low && self.kind == SlowStartExit::HyStartFrom16) {
            return false;
        }
        if ack.acked_packet > self.end {
            self.begin_round(ack);
        }
        if is_low || self.kind == SlowStartExit::Loss {
            return false;
        }
        let train = self.is_train_long(ack, min_rtt, window);
        let delay = self.is_delayed(rtt, min_rtt);
        self.found = train || delay;
        self.found
    }
    fn begin_round(&mut self, ack: &AckEvent) {
        let (round_start, last_ack, end) = (ack.now, ack.now, ack.next_packet);
        *self = HyStart { round_start, last_ack, end, ..HyStart::new(self.kind) };
    }
    /// The ACKs of this round came back to back for half the smallest RTT: the pipe is full at least half.
    /// A paced sender spreads them itself, so they must last the whole of it.
    fn is_train_long(&mut self, ack: &AckEvent, min_rtt: Duration, window: &Window) -> bool {
        if ack.now.saturating_since(self.last_ack) > TRAIN_SPACING {
            return false;
        }
        self.last_ack = ack.now;
        let limit = min_rtt + burst_time(ack, window);
        let limit = if window.pacing.is_none() { limit / 2 } else { limit };
        ack.now.saturating_since(self.round_start) > limit
    }
    /// Even the fastest packet of this round met a queue.
    fn is_delayed(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        self.round_min_rtt = self.round_min_rtt.min(rtt);
        if self.samples < GATHERED_SAMPLES {
            self.samples += 1;
            return false;
        }
        let (least, most) = DELAY_THRESHOLD;
        self.round_min_rtt > min_rtt + (min_rtt / 8).clamp(least, most)
    }
}

/// [`BURST_BYTES`] at two windows per smoothed RTT, which is the rate at which Linux would pace slow start.
fn burst_time(ack: &AckEvent, window: &Window) -> Duration {
    /// Ethernet's payload; the limit of 1 ms applies below 2 Gbit/s anyway.
    const PACKET: u64 = 1500;
    let window_bytes = u64::from(window.cwnd) * PACKET;
    (ack.srtt * (BURST_BYTES / 2) / window_bytes.max(1)).min(BURST_LIMIT)
}
