//! Token-bucket policers: two equal rates in a row under heavy loss are taken for the policer's rate.
use crate::{AckEvent, RateSample};
use fathom_units::{Duration, Time};

/// Rounds that an interval lasts at least.
const MIN_ROUNDS: u32 = 4;
/// An interval that lasts longer than this many rounds is no sign of a policer.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Loss from which an interval counts, in 256ths: about 20 %.
const LOSS_256THS: u64 = 50;
/// Two rates are equal if they differ by an eighth at most,
const EQUAL_SHARE: u64 = 8;
/// or by 4 kbit/s.
const EQUAL_BYTES_PER_SECOND: u64 = 500;
/// Then, after so many rounds at that rate, it looks for more again.
const ROUNDS_AT_RATE: u32 = 48;

/// Long-term rate, after BBR version 1 in Linux.
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
    /// The policer's rate, if there is one.
    pub(super) fn rate(&self) -> Option<u64> {
        self.is_found.then_some(self.rate)
    }
    /// Begins anew. What has been lost so far stays counted.
    pub(super) fn reset(&mut self) {
        *self = Policer { lost: self.lost, ..Policer::new() };
    }
    /// The sender has timed out, which is the end of a round: an interval may begin with that.
    pub(super) fn on_timeout(&mut self, now: Time, delivered: u64) {
        if !self.is_found && !self.is_sampling {
            self.is_sampling = true;
            self.begin_interval(now, delivered);
        }
        self.rounds += 1;
    }
    /// One round more at the policer's rate. True when it has been kept for long enough.
    pub(super) fn is_over(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= ROUNDS_AT_RATE
    }
    /// A delivery-rate sample. `bytes_per_second` converts a rate.
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
        // An interval ends with a loss: only then are the policer's tokens used up.
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
        let rate = super::packet_rate(delivered, elapsed);
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
