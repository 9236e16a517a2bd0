//! Reno (RFC 5681, 6582). As in Linux, delayed ACKs do not halve its growth: packets count.
use crate::{AckEvent, Cause, Control, Recovery, Window, WindowEvent};
use fathom_units::Time;

/// Minimum slow-start threshold, in packets. RFC 5681 equation 4.
pub(crate) const MIN_SSTHRESH: u32 = 2;

/// Grows by one packet per `per` ACKed packets and carries the remainder over.
#[derive(Clone, Default, Debug)]
pub(crate) struct Increase {
    acked: u32,
}

impl Increase {
    /// Counts `acked` packets; `cwnd` grows by one per `per` of them.
    pub(crate) fn add(&mut self, window: &mut Window, per: u32, acked: u32) {
        let per = per.max(1);
        // If the divisor has fallen since the last ACK, the count gives one packet, not several.
        if self.acked >= per {
            self.acked = 0;
            window.cwnd = window.cwnd.saturating_add(1);
        }
        self.acked = self.acked.saturating_add(acked);
        if self.acked >= per {
            window.cwnd = window.cwnd.saturating_add(self.acked / per);
            self.acked %= per;
        }
    }
    pub(crate) fn reset(&mut self) {
        self.acked = 0;
    }
}

/// Packets by which this ACK may raise the window. Packets count when delivered, cumulatively or by
/// SACK, but only a cumulative ACK may raise the window (Linux `tcp_may_raise_cwnd`).
pub(crate) const fn growth(ack: &AckEvent) -> u32 {
    let frozen = matches!(ack.recovery, Recovery::Cwr | Recovery::Recovery);
    if frozen || !ack.is_cwnd_limited || ack.cumulative == 0 { 0 } else { ack.newly_acked }
}

/// Slow start up to `ssthresh`. Returns the packets left for congestion avoidance.
pub(crate) fn slow_start(window: &mut Window, acked: u32) -> u32 {
    let room = window.ssthresh.saturating_sub(window.cwnd);
    let used = acked.min(room);
    window.cwnd += used;
    acked - used
}

/// Half the window: RFC 5681 equation 4, with cwnd instead of the flight size as in Linux.
pub(crate) fn half(window: &Window) -> u32 {
    (window.cwnd / 2).max(MIN_SSTHRESH)
}

/// Reno.
#[derive(Clone, Default, Debug)]
pub struct Reno {
    increase: Increase,
}

impl Reno {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Slow start, then one packet per window.
    pub(crate) fn grow(&mut self, window: &mut Window, acked: u32) {
        let rest = slow_start(window, acked);
        if rest > 0 {
            self.increase.add(window, window.cwnd, rest);
        }
    }
}

impl Control for Reno {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        let acked = growth(ack);
        if acked > 0 {
            self.grow(window, acked);
        }
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        self.increase.reset();
        half(window)
    }
    fn on_event(&mut self, event: WindowEvent, _now: Time, _window: &mut Window) {
        if event == WindowEvent::TimedOut {
            self.increase.reset();
        }
    }
}
