//! A token bucket without rounding: rates that do not divide a second evenly are kept over any length of time.
use fathom_units::{Bytes, Duration, Rate, Time};

/// A bit is this many tokens, so that a rate in bit/s is the tokens of a nanosecond.
const TOKENS_PER_BIT: i128 = 1_000_000_000;

/// Tokens that come in at a rate and are spent by the size of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: i128,
    depth: i128,
    /// It owes at most this much.
    floor: i128,
    tokens: i128,
    at: Time,
}

fn cost(len: Bytes) -> i128 {
    i128::from(len.get()) * 8 * TOKENS_PER_BIT
}

impl Bucket {
    /// Full at time zero.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        let depth = cost(depth);
        let rate = i128::from(rate.as_bits_per_second());
        Bucket { rate, depth, floor: i128::MIN, tokens: depth, at: Time::ZERO }
    }
    /// With debts cut at what comes in within `time`.
    pub(crate) fn owing_at_most(self, time: Duration) -> Self {
        Bucket { floor: -(self.rate * i128::from(time.as_nanos())), ..self }
    }
    fn tokens_at(&self, now: Time) -> i128 {
        let nanos = i128::from(now.saturating_since(self.at).as_nanos());
        self.rate.saturating_mul(nanos).saturating_add(self.tokens).min(self.depth)
    }
    /// Enough for `len` at `now`?
    pub(crate) fn has(&self, len: Bytes, now: Time) -> bool {
        self.tokens_at(now) >= cost(len)
    }
    /// Spends `len`, though it be more than there is.
    pub(crate) fn spend(&mut self, len: Bytes, now: Time) {
        self.tokens = (self.tokens_at(now) - cost(len)).max(self.floor);
        self.at = now;
    }
    /// When there will be enough for `len`, which is `now` if there is.
    pub(crate) fn ready(&self, len: Bytes, now: Time) -> Time {
        let missing = (cost(len) - self.tokens_at(now)).max(0);
        // Rounded up, or it would not be there yet. The rate is above zero: the parser refuses others.
        let nanos = (missing + self.rate - 1) / self.rate;
        now + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
