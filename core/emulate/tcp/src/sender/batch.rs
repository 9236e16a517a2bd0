//! Segments that leave together, and when a sender waits for more room rather than send few.
//!
//! Linux makes super-packets and cuts them up only on the way out, also where no device helps with that (`tcp_tso_autosize`,
//! `tcp_tso_should_defer`). On a line of some 100 Mbit/s and more this makes bursts of a millisecond out of a smooth stream.
use super::Sender;
use fathom_units::{Duration, Time};

/// Of the pacing rate, paced or not, a batch holds as much as leaves in this time: 1 s / 1024.
const SPAN_NS: u64 = 976_563;
/// Segments of a batch at least, and at most: what fits into 64 KiB.
pub(super) const LEAST: u32 = 2;
pub(super) const MOST: u32 = 45;
/// A sender that was silent for this long, or that expects no acknowledgement within it, does not wait.
const PATIENCE: Duration = Duration::from_millis(1);
/// Room for this part of the window is always used. Linux: `tcp_tso_win_divisor`.
const WINDOW_PARTS: u32 = 3;

/// The batch that is leaving.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Batch {
    /// Segments of it that are still to leave.
    pub(super) left: u32,
    /// It is more than one.
    pub(super) has_several: bool,
    /// None was begun, so as to wait for more room.
    pub(super) is_deferred: bool,
}

impl Sender {
    /// A batch of at most `room` segments begins. False if it is to wait.
    pub(super) fn begin_batch(&mut self, room: u32, is_new: bool, now: Time) -> bool {
        if !self.pacer.may_send(now) {
            return false;
        }
        let largest = self.largest_batch();
        if is_new && room < largest && self.defers(room, now) {
            self.batch.is_deferred = true;
            return false;
        }
        // At least two batches are in flight.
        let segments = room.min(largest).min((self.window.cwnd / 2).max(1));
        self.pace(segments, is_new, now);
        (self.batch.left, self.batch.has_several) = (segments, segments > 1);
        true
    }

    /// Segments that leave together if the window allows it.
    fn largest_batch(&self) -> u32 {
        if let Some(paced) = self.pacer.batch() {
            return paced;
        }
        let srtt = self.rtt.smoothed().as_nanos();
        let (packets, percent) = self.usual_share();
        let in_span = packets * percent * (SPAN_NS / 100);
        if in_span < u64::from(LEAST + 1) * srtt {
            // Nearly always, and without a division.
            return LEAST;
        }
        u32::try_from(in_span.checked_div(srtt).unwrap_or(u64::MAX)).unwrap_or(MOST).min(MOST)
    }

    /// There is room for few segments, and the next acknowledgement is about to make more.
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
