//! Vegas (Brakmo and Peterson 1995) as in Linux: each flow keeps two to four packets queued.
use crate::reno::{MIN_SSTHRESH, growth, slow_start};
use crate::{AckEvent, Cause, Control, Recovery, Reno, Window, WindowEvent};
use fathom_units::{Duration, Time};

/// With fewer packets queued the window grows.
const ALPHA: u64 = 2;
/// With more packets queued the window shrinks.
const BETA: u64 = 4;
/// More packets queued end slow start.
const GAMMA: u64 = 1;

/// Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    reno: Reno,
    /// False during loss recovery, which uses Reno.
    is_enabled: bool,
    /// The round ends when more than this has been ACKed.
    end: u64,
    /// Minimum RTT of the connection.
    base_rtt: Duration,
    /// Minimum RTT of this round.
    round_rtt: Duration,
    samples: u32,
}

impl Default for Vegas {
    fn default() -> Self {
        Self::new()
    }
}

/// With fewer RTT samples per round, a delayed ACK may inflate the minimum.
const MIN_SAMPLES: u32 = 3;

impl Vegas {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new() -> Self {
        Vegas {
            reno: Reno::new(),
            is_enabled: false,
            end: 0,
            base_rtt: Duration::MAX,
            round_rtt: Duration::MAX,
            samples: 0,
        }
    }
    fn begin_round(&mut self, next_packet: u64) {
        self.end = next_packet;
        self.round_rtt = Duration::MAX;
        self.samples = 0;
    }
    fn follow(&mut self, recovery: Recovery, next_packet: u64) {
        let is_open = recovery == Recovery::Open;
        if is_open && !self.is_enabled {
            self.begin_round(next_packet);
        }
        self.is_enabled = is_open;
    }
    /// Adjusts the window once per round.
    fn adjust(&self, window: &mut Window, may_grow: u32) {
        let (base, rtt, cwnd) = (self.base_rtt.as_nanos(), self.round_rtt.as_nanos(), u64::from(window.cwnd));
        let queued = cwnd.saturating_mul(rtt - base) / base;
        if window.in_slow_start() {
            if queued > GAMMA {
                // What the path holds without a queue, plus one packet.
                let held = (cwnd.saturating_mul(base) / rtt) as u32;
                window.cwnd = window.cwnd.min(held + 1);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                slow_start(window, may_grow);
            }
        } else if queued > BETA {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if queued < ALPHA && may_grow > 0 {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(MIN_SSTHRESH);
        // If a restart follows, slow start returns to three quarters of this.
        window.ssthresh = window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4).max(MIN_SSTHRESH);
    }
}

impl Control for Vegas {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        self.follow(ack.recovery, ack.next_packet);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.max(Duration::from_nanos(1));
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples += 1;
        }
        let acked = growth(ack);
        if !self.is_enabled {
            self.reno.on_ack(ack, window);
        } else if ack.acked_packet > self.end {
            if self.samples < MIN_SAMPLES {
                self.reno.on_ack(ack, window);
            } else {
                self.adjust(window, acked);
            }
            self.begin_round(ack.next_packet);
        } else if window.in_slow_start() {
            slow_start(window, acked);
        }
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        self.reno.reduce(cause, now, window)
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        self.reno.on_event(event, now, window);
        if let WindowEvent::Start { .. } = event {
            // The path may have changed while idle.
            self.base_rtt = Duration::MAX;
            self.is_enabled = false;
        }
    }
}
