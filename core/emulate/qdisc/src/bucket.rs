//! A token bucket without rounding, so the long-run rate is exact.
use fathom_units::{Bytes, Duration, Rate, Time};

/// One bit costs this many tokens, so a rate in bit/s equals the tokens added per nanosecond.
const TOKENS_PER_BIT: i128 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: i128,
    depth: i128,
    /// Lower bound of `tokens`: the maximum debt, negated.
    floor: i128,
    tokens: i128,
    at: Time,
}

fn cost(len: Bytes) -> i128 {
    i128::from(len.get()) * 8 * TOKENS_PER_BIT
}

impl Bucket {
    /// Creates a bucket that is full at time zero.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        let depth = cost(depth);
        let rate = i128::from(rate.as_bits_per_second());
        Bucket { rate, depth, floor: i128::MIN, tokens: depth, at: Time::ZERO }
    }
    /// Limits the debt to the tokens that arrive within `time`.
    pub(crate) fn owing_at_most(self, time: Duration) -> Self {
        Bucket { floor: -(self.rate * i128::from(time.as_nanos())), ..self }
    }
    fn tokens_at(&self, now: Time) -> i128 {
        let nanos = i128::from(now.saturating_since(self.at).as_nanos());
        self.rate.saturating_mul(nanos).saturating_add(self.tokens).min(self.depth)
    }
    pub(crate) fn has(&self, len: Bytes, now: Time) -> bool {
        self.tokens_at(now) >= cost(len)
    }
    /// Spends the tokens for `len`, going into debt if there are too few.
    pub(crate) fn spend(&mut self, len: Bytes, now: Time) {
        self.tokens = (self.tokens_at(now) - cost(len)).max(self.floor);
        self.at = now;
    }
    /// The earliest time from `now` on at which there are tokens for `len`.
    pub(crate) fn ready(&self, len: Bytes, now: Time) -> Time {
        let missing = (cost(len) - self.tokens_at(now)).max(0);
        // Rounded up, or the tokens would not be there yet. The parser rejects a rate of zero.
        let nanos = (missing + self.rate - 1) / self.rate;
        now + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
