//! Detects token-bucket policers: two consecutive equal rates under heavy loss.
use crate::{AckEvent, RateSample};
use fathom_units::{Duration, Time};

/// Minimum length of an interval, in rounds.
const MIN_ROUNDS: u32 = 4;
/// Maximum length of an interval, in rounds.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Minimum loss of an interval, in 256ths: about 20 %.
const LOSS_256THS: u64 = 50;
/// Two rates are equal if they differ by at most an eighth,
const EQUAL_SHARE: u64 = 8;
/// or by at most 4 kbit/s.
const EQUAL_BYTES_PER_SECOND: u64 = 500;
/// Rounds at the detected rate, after which BBR probes for more again.
const ROUNDS_AT_RATE: u32 = 48;

/// The long-term rate of BBR version 1 in Linux.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    is_sampling: bool,
    is_found: bool,
    rate: u64,
    rounds: u32,
    lost: u64,
    start: Time,
    start_delivered: u64,
    start_lost: u64,
}

impl Policer {
    pub(super) const fn new() -> Self {
        Policer {
            is_sampling: false,
            is_found: false,
            rate: 0,
            rounds: 0,
            lost: 0,
            start: Time::ZERO,
            start_delivered: 0,
            start_lost: 0,
        }
    }
    /// The policer's rate, if one was detected.
    pub(super) fn rate(&self) -> Option<u64> {
        self.is_found.then_some(self.rate)
    }
    /// Restarts detection. The total of losses is kept.
    pub(super) fn reset(&mut self) {
        *self = Policer { lost: self.lost, ..Policer::new() };
    }
    /// A timeout ends a round, so an interval may begin with it.
    pub(super) fn on_timeout(&mut self, now: Time, delivered: u64) {
        if !self.is_found && !self.is_sampling {
            self.is_sampling = true;
            self.begin_interval(now, delivered);
        }
        self.rounds += 1;
    }
    /// Counts a round at the policer's rate. True after [`ROUNDS_AT_RATE`].
    pub(super) fn is_over(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= ROUNDS_AT_RATE
    }
    /// Processes a delivery-rate sample. `bytes_per_second` converts a rate.
    pub(super) fn on_sample(
        &mut self,
        ack: &AckEvent,
        sample: &RateSample,
        is_round_start: bool,
        bytes_per_second: impl Fn(u64) -> u64,
    ) {
        self.lost += u64::from(sample.losses);
        if !self.is_sampling && sample.losses == 0 {
            return;
        }
        if !self.is_sampling {
            self.is_sampling = true;
            self.begin_interval(ack.now, ack.delivered);
        }
        if sample.is_app_limited {
            return self.reset();
        }
        self.rounds += u32::from(is_round_start);
        if self.rounds > MAX_ROUNDS {
            return self.reset();
        }
        // An interval ends at a loss, because only then has the policer run out of tokens.
        if self.rounds >= MIN_ROUNDS && sample.losses > 0 {
            self.end_interval(ack, bytes_per_second);
        }
    }
    fn begin_interval(&mut self, now: Time, delivered: u64) {
        self.start = now;
        self.start_delivered = delivered;
        self.start_lost = self.lost;
        self.rounds = 0;
    }
    fn end_interval(&mut self, ack: &AckEvent, bytes_per_second: impl Fn(u64) -> u64) {
        let delivered = ack.delivered - self.start_delivered;
        let lost = self.lost - self.start_lost;
        let elapsed = ack.now.saturating_since(self.start);
        let is_heavy = lost * 256 >= LOSS_256THS * delivered;
        if delivered == 0 || !is_heavy || elapsed < Duration::from_millis(1) {
            return;
        }
        let rate = super::rate::packet_rate(delivered, elapsed);
        let difference = rate.abs_diff(self.rate);
        let is_equal =
            difference <= self.rate / EQUAL_SHARE || bytes_per_second(difference) <= EQUAL_BYTES_PER_SECOND;
        if self.rate > 0 && is_equal {
            self.rate = u64::midpoint(self.rate, rate);
            self.is_found = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin_interval(ack.now, ack.delivered);
        }
    }
}
