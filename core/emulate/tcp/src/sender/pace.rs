//! Pacing with the sender's own timer, as in Linux without `sch_fq`.
use super::Sender;
use super::batch::{LEAST, MOST};
use crate::Control;
use fathom_units::{Bytes, Duration, Rate, Time};

/// Segments at the start that are not paced. Linux: 10.
const UNPACED: u64 = 10;
/// Percent of the window per RTT: Linux `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// When the next batch may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    at: Time,
    /// Values derived from the rate, computed when it changes.
    rate: Option<Rate>,
    gap: Duration,
    batch: u32,
}

impl Pacer {
    pub(super) const fn new(now: Time) -> Self {
        Pacer { at: now, rate: None, gap: Duration::ZERO, batch: LEAST }
    }
    pub(super) const fn next(&self) -> Time {
        self.at
    }
    pub(super) fn may_send(&self, now: Time) -> bool {
        self.rate.is_none() || self.at <= now
    }
    /// Segments per batch, if pacing is on.
    pub(super) fn batch(&self) -> Option<u32> {
        self.rate.map(|_| self.batch)
    }
    fn set(&mut self, rate: Option<Rate>, mss: u32, burst: Duration) {
        if self.rate == rate {
            return;
        }
        self.rate = rate;
        let Some(rate) = rate else { return };
        self.gap = rate.serialization_time(Bytes(u64::from(mss)));
        let packets = burst.as_nanos() / self.gap.as_nanos().max(1);
        self.batch = u32::try_from(packets).unwrap_or(MOST).clamp(LEAST, MOST);
    }
    fn send(&mut self, segments: u32, now: Time) {
        let time = self.gap * u64::from(segments);
        // A late batch shortens the following gap, at most by half.
        let late = now.saturating_since(self.at);
        self.at = self.at.max(now) + time.saturating_sub(late.min(time / 2));
    }
}

impl Sender {
    /// Applies the current rate.
    pub(super) fn set_pace(&mut self) {
        if self.config.paced && !self.control.owns_window() {
            self.window.pacing = self.usual_pace();
        }
        if self.window.pacing != self.pacer.rate {
            self.pacer.set(self.window.pacing, self.config.mss, self.control.burst_time());
        }
    }
    fn usual_pace(&self) -> Option<Rate> {
        let srtt = self.rtt.smoothed().as_nanos();
        if srtt == 0 {
            return None;
        }
        let (packets, percent) = self.usual_share();
        let bits = u128::from(packets) * u128::from(self.config.mss) * 8;
        let rate = bits * u128::from(percent) * 10_000_000 / u128::from(srtt);
        Some(Rate::from_bits_per_second(u64::try_from(rate).unwrap_or(u64::MAX)))
    }
    /// Packets of which this percentage is sent per RTT if the control sets no rate.
    pub(super) fn usual_share(&self) -> (u64, u64) {
        let window = &self.window;
        let percent = if window.cwnd < window.ssthresh / 2 { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT };
        (u64::from(window.cwnd.max(self.flight.out())), percent)
    }
    /// Charges a batch.
    pub(super) fn pace(&mut self, segments: u32, is_new: bool, now: Time) {
        if self.pacer.rate.is_none() || self.sent + u64::from(segments) < UNPACED {
            return;
        }
        let len = u64::from(segments) * u64::from(self.config.mss);
        let is_short = is_new && self.unsent() < len;
        let segments =
            if is_short { self.unsent().div_ceil(u64::from(self.config.mss)) as u32 } else { segments };
        self.pacer.send(segments, now);
    }
}
