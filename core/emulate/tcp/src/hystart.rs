//! HyStart (Ha and Rhee 2011) as in Linux: leaves slow start early. Not HyStart++ (RFC 9406).
use crate::{AckEvent, Window};
use fathom_units::{Duration, Time};

/// Below this window, in packets, a round has too few samples.
const LOW_WINDOW: u32 = 16;
/// ACKs with at most this spacing form a train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// RTT samples collected in a round before the first decision.
const GATHERED_SAMPLES: u8 = 8;
/// Bounds of the RTT increase that ends slow start; between them it is 1/8 of the minimum RTT.
const DELAY_THRESHOLD: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// Upper limit of the allowance for sender bursts, the time of `BURST_BYTES` at the sender's rate.
const BURST_LIMIT: Duration = Duration::from_millis(1);
/// Four super-packets of 64 KiB.
const BURST_BYTES: u64 = 4 * 65_536;

/// When CUBIC leaves slow start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SlowStartExit {
    /// Only at the first loss.
    Loss,
    /// HyStart as in Linux 6.12.117: each round begins when the previous one has been ACKed.
    #[default]
    HyStart,
    /// HyStart as in Linux when packetdrill's scripts were written: rounds begin once the window is
    /// 16 packets, during a burst and behind half of its queue, so slow start ends early.
    HyStartFrom16,
    /// HyStart++ (RFC 9406).
    HyStartPlusPlus,
}

/// The state of the current round.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    kind: SlowStartExit,
    round_start: Time,
    last_ack: Time,
    /// The round ends when this packet has been ACKed.
    end: u64,
    round_min_rtt: Duration,
    samples: u8,
    found: bool,
}

impl HyStart {
    /// Creates the state in slow start. The next ACK begins a round.
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
    /// Resets to the start of the connection.
    pub(crate) const fn forget(&mut self) {
        *self = HyStart::new(self.kind);
    }
    /// Processes an RTT sample in slow start; `min_rtt` includes it. True to leave slow start.
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
    /// True if ACKs were back to back for half the minimum RTT: the pipe is at least half full. A
    /// paced sender spaces its packets, so there they must be for the whole RTT.
    fn is_train_long(&mut self, ack: &AckEvent, min_rtt: Duration, window: &Window) -> bool {
        if ack.now.saturating_since(self.last_ack) > TRAIN_SPACING {
            return false;
        }
        self.last_ack = ack.now;
        let limit = min_rtt + burst_time(ack, window);
        let limit = if window.pacing.is_none() { limit / 2 } else { limit };
        ack.now.saturating_since(self.round_start) > limit
    }
    /// True if all samples of this round had a queueing delay.
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

/// [`BURST_BYTES`] at two windows per smoothed RTT, the rate at which Linux paces slow start.
fn burst_time(ack: &AckEvent, window: &Window) -> Duration {
    /// Ethernet payload. Below 2 Gbit/s the limit of 1 ms applies anyway.
    const PACKET: u64 = 1500;
    let window_bytes = u64::from(window.cwnd) * PACKET;
    (ack.srtt * (BURST_BYTES / 2) / window_bytes.max(1)).min(BURST_LIMIT)
}
