//! HyStart++ (RFC 9406): when the RTT rises in slow start, the window first grows more slowly; only
//! if the RTT does not fall again, slow start ends.
use crate::{AckEvent, Window};
use fathom_units::Duration;

/// Bounds of the rise that slows the growth; between them it is 1/8 of the last round's RTT.
const THRESHOLD: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
const THRESHOLD_DIVISOR: u64 = 8;
/// RTT samples in a round before a decision.
const SAMPLES: u8 = 8;
/// Conservative slow start grows by a quarter, and ends slow start after this many rounds.
const GROWTH_DIVISOR: u32 = 4;
const ROUNDS: u8 = 5;
/// Packets by which one ACK raises the window of a sender that does not pace.
const MAX_GROWTH: u32 = 8;

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// RTT of the round in which it began: if a round has less, the rise was spurious.
    baseline: Duration,
    rounds: u8,
    /// ACKed packets that have not raised the window yet.
    acked: u32,
}

/// HyStart++.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlusPlus {
    /// The round ends when this packet has been ACKed.
    end: u64,
    /// Minimum RTT of the last round and of this one; [`Duration::MAX`] without samples.
    last: Duration,
    current: Duration,
    samples: u8,
    conservative: Option<Conservative>,
}

impl HyStartPlusPlus {
    pub(crate) const fn new() -> Self {
        HyStartPlusPlus {
            end: 0,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
            conservative: None,
        }
    }
    /// Processes an RTT sample in slow start. True to leave slow start.
    pub(crate) fn exits(&mut self, ack: &AckEvent, rtt: Duration) -> bool {
        if ack.acked_packet > self.end && self.begin_round(ack.next_packet) {
            return true;
        }
        self.current = self.current.min(rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples < SAMPLES {
            return false;
        }
        match self.conservative {
            Some(conservative) if self.current < conservative.baseline => self.conservative = None,
            Some(_) => {}
            None if self.is_delayed() => {
                self.conservative = Some(Conservative { baseline: self.current, rounds: 0, acked: 0 });
            }
            None => {}
        }
        false
    }
    /// True if conservative slow start has lasted long enough.
    fn begin_round(&mut self, next_packet: u64) -> bool {
        self.end = next_packet;
        (self.last, self.current, self.samples) = (self.current, Duration::MAX, 0);
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= ROUNDS
    }
    fn is_delayed(&self) -> bool {
        let (least, most) = THRESHOLD;
        let rise = (self.last / THRESHOLD_DIVISOR).clamp(least, most);
        self.last < Duration::MAX && self.current >= self.last + rise
    }
    /// Packets by which `acked` packets raise the window in slow start.
    pub(crate) fn growth(&mut self, acked: u32, window: &Window) -> u32 {
        let acked = if window.pacing.is_some() { acked } else { acked.min(MAX_GROWTH) };
        let Some(conservative) = &mut self.conservative else { return acked };
        conservative.acked += acked;
        let growth = conservative.acked / GROWTH_DIVISOR;
        conservative.acked %= GROWTH_DIVISOR;
        growth
    }
}
