//! Window validation (RFC 7661) as in Linux: a window that does not limit the sender must not grow.
use super::Sender;
use crate::{Control, WindowEvent};
use fathom_units::{Duration, Time};

/// Usage in the last window of data.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Usage {
    /// The window was full.
    is_limited: bool,
    /// Otherwise, the maximum number of packets out.
    max_out: u32,
    /// The round ends when this packet is ACKed.
    round_end: u64,
}

impl Sender {
    /// Called after sending.
    pub(super) fn judge_usage(&mut self, is_limited: bool) {
        let out = self.flight.out();
        let usage = &mut self.usage;
        let is_over = self.flight.first() >= usage.round_end;
        if is_over || is_limited || (!usage.is_limited && out > usage.max_out) {
            *usage = Usage { is_limited, max_out: out, round_end: self.flight.next() };
        }
    }
    /// True if the window limits sending. In slow start using half of it is enough.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.max_out)
    }

    /// Sending starts with nothing in flight.
    pub(super) fn start_flight(&mut self, now: Time) {
        self.rate.restart(now);
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.saturating_since(last));
        let timeout = self.rtt.timeout();
        if self.rtt.is_known() && idle > timeout && !self.control.owns_window() {
            self.shrink_idle(idle, timeout);
        }
        self.control.on_event(WindowEvent::Start { idle }, now, &mut self.window);
    }
    /// RFC 2861 as in Linux: halves the window per idle timeout, down to the initial window.
    fn shrink_idle(&mut self, idle: Duration, timeout: Duration) {
        let halvings = (idle.as_nanos() / timeout.as_nanos().max(1)).min(31) as u32;
        let least = self.config.initial_window.min(self.window.cwnd);
        self.window.ssthresh = self.current_threshold();
        self.window.cwnd = (self.window.cwnd >> halvings).max(least);
    }
}
