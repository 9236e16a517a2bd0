//! Whether the window is what limits the sender: RFC 7661's question, answered as Linux does. A window that is not used must not grow.
use super::Sender;
use crate::{Control, WindowEvent};
use fathom_units::{Duration, Time};

/// Of the last window of data.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Usage {
    /// The window was full.
    is_limited: bool,
    /// Else packets that were out at most.
    max_out: u32,
    /// Packet with whose acknowledgement the round ends.
    round_end: u64,
}

impl Sender {
    /// After sending.
    pub(super) fn judge_usage(&mut self, is_limited: bool) {
        let out = self.flight.out();
        let usage = &mut self.usage;
        let is_over = self.flight.first() >= usage.round_end;
        if is_over || is_limited || (!usage.is_limited && out > usage.max_out) {
            *usage = Usage { is_limited, max_out: out, round_end: self.flight.next() };
        }
    }
    /// The window held the sender back: only then may it grow. In slow start half the window in use is enough.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.max_out)
    }

    /// Sending begins with nothing in flight.
    pub(super) fn start_flight(&mut self, now: Time) {
        self.rate.restart(now);
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.saturating_since(last));
        let timeout = self.rtt.timeout();
        if self.rtt.is_known() && idle > timeout && !self.control.owns_window() {
            self.shrink_idle(idle, timeout);
        }
        self.control.on_event(WindowEvent::Start { idle }, now, &mut self.window);
    }
    /// RFC 2861 as in Linux: the window halves for each timeout without sending, down to the initial one.
    fn shrink_idle(&mut self, idle: Duration, timeout: Duration) {
        let halvings = (idle.as_nanos() / timeout.as_nanos().max(1)).min(31) as u32;
        let least = self.config.initial_window.min(self.window.cwnd);
        self.window.ssthresh = self.current_threshold();
        self.window.cwnd = (self.window.cwnd >> halvings).max(least);
    }
}
