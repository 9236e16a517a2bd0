//! Batches of segments, and deferring a small batch until there is more room.
//!
//! Linux builds super-packets even without offload (`tcp_tso_autosize`, `tcp_tso_should_defer`).
//! From about 100 Mbit/s this turns a smooth stream into bursts of a millisecond.
use super::Sender;
use crate::control::BURST_TIME;
use fathom_units::{Duration, Time};

/// Minimum and maximum segments per batch; the maximum fits into 64 KiB.
pub(super) const LEAST: u32 = 2;
pub(super) const MOST: u32 = 45;
/// A sender that was silent for this long, or expects no ACK within it, does not defer.
const PATIENCE: Duration = Duration::from_millis(1);
/// Room for this fraction of the window is always used. Linux: `tcp_tso_win_divisor`.
const WINDOW_PARTS: u32 = 3;

/// The current batch.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Batch {
    /// Segments of it that remain to be sent.
    pub(super) left: u32,
    /// It has more than one segment.
    pub(super) has_several: bool,
    /// It was deferred to wait for more room.
    pub(super) is_deferred: bool,
}

impl Sender {
    /// Begins a batch of at most `room` segments. False to wait.
    pub(super) fn begin_batch(&mut self, room: u32, is_new: bool, now: Time) -> bool {
        if !self.pacer.may_send(now) {
            return false;
        }
        let largest = self.largest_batch();
        if is_new && room < largest && self.defers(room, now) {
            self.batch.is_deferred = true;
            return false;
        }
        // Keeps at least two batches in flight.
        let segments = room.min(largest).min((self.window.cwnd / 2).max(1));
        self.pace(segments, is_new, now);
        (self.batch.left, self.batch.has_several) = (segments, segments > 1);
        true
    }

    /// Maximum segments per batch.
    fn largest_batch(&self) -> u32 {
        if let Some(paced) = self.pacer.batch() {
            return paced;
        }
        let srtt = self.rtt.smoothed().as_nanos();
        let (packets, percent) = self.usual_share();
        let in_span = packets * percent * (BURST_TIME.as_nanos() / 100);
        if in_span < u64::from(LEAST + 1) * srtt {
            // The usual case, without a division.
            return LEAST;
        }
        u32::try_from(in_span.checked_div(srtt).unwrap_or(u64::MAX)).unwrap_or(MOST).min(MOST)
    }

    /// True if there is room for few segments and an ACK is about to make more.
    fn defers(&self, room: u32, now: Time) -> bool {
        let last = self.last_sent.unwrap_or(Time::ZERO).max(self.pacer.next());
        if now >= last + PATIENCE || self.repair.is_recovering() {
            return false;
        }
        if u64::from(room) * u64::from(self.config.mss) >= self.unsent() {
            return false;
        }
        if u64::from(room) * u64::from(WINDOW_PARTS) >= u64::from(self.window.cwnd) {
            return false;
        }
        let srtt = self.rtt.smoothed();
        self.flight.head().is_some_and(|head| head.at + srtt <= now + (srtt / 2).min(PATIENCE))
    }
}
