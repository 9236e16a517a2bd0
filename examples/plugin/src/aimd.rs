//! Additive increase, multiplicative decrease, with any parameters. Source: Chiu, Jain, "Analysis of
//! the increase and decrease algorithms for congestion avoidance in computer networks", 1989.
use fathom_tcp::{AckEvent, Cause, Control, Recovery, Window};
use fathom_units::Time;

/// The window grows by `increase` packets per round trip, and shrinks to `keep` of its size.
#[derive(Clone, Debug)]
pub struct Aimd {
    increase: f64,
    keep: f64,
    /// Part of a packet that the window has grown.
    grown: f64,
}

impl Aimd {
    /// The control of a new connection.
    pub fn new(increase: f64, keep: f64) -> Self {
        Aimd { increase, keep, grown: 0.0 }
    }
}

impl Control for Aimd {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        let may_grow = matches!(ack.recovery, Recovery::Open | Recovery::Disorder | Recovery::Loss);
        if !may_grow || !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.cwnd += ack.newly_acked;
            return;
        }
        self.grown += self.increase * f64::from(ack.newly_acked) / f64::from(window.cwnd);
        window.cwnd += self.grown as u32;
        self.grown = self.grown.fract();
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        ((f64::from(window.cwnd) * self.keep) as u32).max(2)
    }
}
