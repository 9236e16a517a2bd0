//! ACK aggregation (Wi-Fi, cable): the window must cover the ACKs beyond the estimated rate.
use fathom_units::{Duration, Time};

/// Rounds after which the older of the two maxima expires.
const WINDOW_ROUNDS: u32 = 5;
/// A measurement restarts after this many packets.
const MAX_PACKETS: u32 = 1 << 20;
/// The window is raised by at most this time at the estimated rate.
const MAX_TIME: Duration = Duration::from_millis(100);

/// The maximum excess of ACKed packets over expected ones in the last five to ten rounds.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    start: Time,
    acked: u32,
    extra: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(crate) const fn new() -> Self {
        Aggregation { start: Time::ZERO, acked: 0, extra: [0; 2], current: 0, rounds: 0 }
    }
    pub(crate) fn restart(&mut self, now: Time) {
        self.start = now;
        self.acked = 0;
    }
    pub(crate) fn on_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.current ^= 1;
            self.extra[self.current] = 0;
        }
    }
    pub(crate) fn on_ack(&mut self, now: Time, acked: u32, rate: u64, cwnd: u32) {
        let mut expected = super::rate::packets_in(rate, now.saturating_since(self.start));
        if u64::from(self.acked) <= expected || self.acked + acked >= MAX_PACKETS {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(MAX_PACKETS - 1);
        let extra = u64::from(self.acked).saturating_sub(expected).min(u64::from(cwnd)) as u32;
        let largest = &mut self.extra[self.current];
        *largest = extra.max(*largest);
    }
    /// Packets by which to raise the window.
    pub(crate) fn allowance(&self, rate: u64) -> u32 {
        let most = super::rate::packets_in(rate, MAX_TIME);
        u64::from(self.extra[0].max(self.extra[1])).min(most) as u32
    }
}
