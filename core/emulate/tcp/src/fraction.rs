//! Windows with fractions of a packet.
use crate::Window;

/// One packet.
pub(crate) const PACKET: i64 = 1 << 20;

/// What is to be added to a window, or taken from it, in 2^-20 packets.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fraction(i64);

impl Fraction {
    pub(crate) fn add(&mut self, amount: i64) {
        self.0 = self.0.saturating_add(amount);
    }
    pub(crate) const fn get(self) -> i64 {
        self.0
    }
    /// Moves whole packets to or from `window`, which keeps at least `least`. True if it fell.
    pub(crate) fn apply(&mut self, window: &mut Window, least: u32) -> bool {
        let packets = self.0 / PACKET;
        self.0 -= packets * PACKET;
        let cwnd = i64::from(window.cwnd) + packets;
        if cwnd < i64::from(least) {
            self.0 = 0;
        }
        window.cwnd = u32::try_from(cwnd.max(i64::from(least))).unwrap_or(u32::MAX);
        packets < 0
    }
}
