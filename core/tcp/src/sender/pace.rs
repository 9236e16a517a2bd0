//! Pacing by the sender's own timer, as Linux does without `sch_fq`.
use super::Sender;
use crate::Control;
use fathom_units::{Bytes, Duration, Rate, Time};

/// Segments that may leave at once: what a millisecond of the rate holds, at least two. Linux sizes its bursts likewise
/// (`tcp_tso_autosize`).
const BURST: Duration = Duration::from_millis(1);
const LEAST_BURST: u32 = 2;
/// Segments at the start that are not paced. Linux: 10.
const UNPACED: u64 = 10;
/// Of the window per smoothed RTT, in percent, in slow start and after it. Linux: `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`.
const SLOW_START_PERCENT: u128 = 200;
const AVOIDANCE_PERCENT: u128 = 120;

/// When the next burst may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    at: Time,
    /// Segments left of the burst, and of a whole one.
    left: u32,
    burst: u32,
    /// What the rate means, computed when it changes.
    rate: Option<Rate>,
    gap: Duration,
}

impl Pacer {
    pub(super) const fn new(now: Time) -> Self {
        Pacer { at: now, left: 0, rate: None, gap: Duration::ZERO, burst: LEAST_BURST }
    }
    pub(super) const fn next(&self) -> Time {
        self.at
    }
    pub(super) fn may_send(&self, now: Time) -> bool {
        self.rate.is_none() || self.left > 0 || self.at <= now
    }
    /// Nothing more can leave now: what comes later is another burst.
    pub(super) fn end_burst(&mut self) {
        self.left = 0;
    }
    fn set(&mut self, rate: Option<Rate>, mss: u32) {
        if self.rate == rate {
            return;
        }
        self.rate = rate;
        let Some(rate) = rate else { return };
        self.gap = rate.serialization_time(Bytes(u64::from(mss)));
        let packets = BURST.as_nanos() / self.gap.as_nanos().max(1);
        self.burst = u32::try_from(packets).unwrap_or(u32::MAX).max(LEAST_BURST);
    }
    fn sent(&mut self, now: Time) {
        let mut gap = self.gap;
        if self.left == 0 {
            self.left = self.burst;
            // A burst that began late makes up for it, by half a packet at most.
            let late = now.saturating_since(self.at);
            gap = gap.saturating_sub(late.min(gap / 2));
            self.at = self.at.max(now);
        }
        self.left -= 1;
        self.at += gap;
    }
}

impl Sender {
    /// The rate may have changed.
    pub(super) fn set_pace(&mut self) {
        if self.config.paced && !self.control.owns_window() {
            self.window.pacing = self.usual_pace();
        }
        if self.window.pacing != self.pacer.rate {
            self.pacer.set(self.window.pacing, self.config.mss);
        }
    }
    fn usual_pace(&self) -> Option<Rate> {
        let srtt = self.rtt.smoothed().as_nanos();
        if srtt == 0 {
            return None;
        }
        let window = &self.window;
        let percent = if window.cwnd < window.ssthresh / 2 { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT };
        let packets = u128::from(window.cwnd.max(self.flight.out()));
        let bits = packets * u128::from(self.config.mss) * 8;
        let rate = bits * percent * 10_000_000 / u128::from(srtt);
        Some(Rate::from_bits_per_second(u64::try_from(rate).unwrap_or(u64::MAX)))
    }
    /// After a segment.
    pub(super) fn pace(&mut self, now: Time) {
        if self.pacer.rate.is_some() && self.sent >= UNPACED {
            self.pacer.sent(now);
        }
    }
}
