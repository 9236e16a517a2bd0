//! DCTCP (RFC 8257): reduces the window in proportion to marks. Without marks it is Reno.
use crate::Reno;
use crate::reno::MIN_SSTHRESH;
use crate::{AckEvent, Cause, Control, Window, WindowEvent};
use fathom_units::Time;

/// Alpha if all packets are marked. Linux represents it in 1024ths.
const ALPHA_ONE: u32 = 1024;
/// g = 1/16, RFC 8257 section 4.2.
const G_SHIFT: u32 = 4;

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// Smoothed fraction of marked packets, in 1024ths.
    alpha: u32,
    /// The observation window ends when this packet has been ACKed.
    end: u64,
    /// Packets delivered, and marked ones among them, at its start.
    start: (u64, u64),
}

impl Default for Dctcp {
    fn default() -> Self {
        Self::new()
    }
}

impl Dctcp {
    /// Creates the control for a new connection. Alpha is 1, so the first mark halves the window.
    #[must_use]
    pub fn new() -> Self {
        Dctcp { reno: Reno::new(), alpha: ALPHA_ONE, end: 0, start: (0, 0) }
    }
    /// Smoothed fraction of marked packets, in 1024ths.
    pub const fn alpha(&self) -> u32 {
        self.alpha
    }
    fn observe(&mut self, ack: &AckEvent) {
        let delivered = ack.delivered.saturating_sub(self.start.0).max(1);
        let marked = ack.delivered_ce.saturating_sub(self.start.1);
        // Below 1/64 the integer decay is zero, so alpha drops to zero at once.
        let decay = match self.alpha >> G_SHIFT {
            0 => self.alpha,
            decay => decay,
        };
        let share = (marked * u64::from(ALPHA_ONE >> G_SHIFT) / delivered) as u32;
        self.alpha = (self.alpha - decay + share).min(ALPHA_ONE);
        self.start = (ack.delivered, ack.delivered_ce);
        self.end = ack.next_packet;
    }
}

impl Control for Dctcp {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        if ack.acked_packet >= self.end {
            self.observe(ack);
        }
        self.reno.on_ack(ack, window);
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        let halved = self.reno.reduce(cause, now, window);
        match cause {
            Cause::Ecn => {
                let cut = u64::from(window.cwnd) * u64::from(self.alpha) / u64::from(2 * ALPHA_ONE);
                (window.cwnd - cut as u32).max(MIN_SSTHRESH)
            }
            // RFC 8257 section 3.5: packet loss is handled as in Reno.
            Cause::Loss | Cause::Timeout => halved,
        }
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        self.reno.on_event(event, now, window);
    }
    fn wants_exact_ecn(&self) -> bool {
        true
    }
}
