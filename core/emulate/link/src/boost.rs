//! A token bucket with a second rate, such as cable's PowerBoost: faster while tokens last.
use crate::trace::{Volume, volume};
use fathom_units::{Bytes, Duration, Rate, Time};

/// A sustained rate, and a higher rate while tokens last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoostParams {
    /// Rate of the tokens, and thus the long-run rate.
    pub sustained: Rate,
    /// Rate while tokens last.
    pub peak: Rate,
    /// Capacity of the bucket; full at the start.
    pub bucket: Bytes,
}

/// A link that, starting with a full bucket, sends min(peak * t, bucket + sustained * t) in time t.
pub(crate) struct Boost {
    sustained: u128,
    peak: u128,
    bucket: Volume,
    /// Start of the current busy period.
    base: Time,
    /// Tokens at `base`.
    tokens: Volume,
    /// Sent since `base`.
    sent: Volume,
    free_at: Time,
}

impl Boost {
    /// # Panics
    /// If the sustained rate is zero, or the peak not above it.
    pub(crate) fn new(params: BoostParams) -> Self {
        let [sustained, peak] = [params.sustained, params.peak].map(|r| u128::from(r.as_bits_per_second()));
        assert!(
            0 < sustained && sustained < peak,
            "invalid boost: sustained rate {}, peak {}",
            params.sustained,
            params.peak
        );
        let bucket = volume(params.bucket);
        Boost { sustained, peak, bucket, base: Time::ZERO, tokens: bucket, sent: 0, free_at: Time::ZERO }
    }
    pub(crate) fn send(&mut self, len: Bytes, start: Time) -> Time {
        if start > self.free_at {
            self.restart(start);
        }
        self.sent += volume(len);
        // Both bounds must allow it.
        let nanos = (self.sent / self.peak).max(self.sent.saturating_sub(self.tokens) / self.sustained);
        self.free_at = self.base + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.free_at
    }
    /// Starts a new busy period: adds the tokens gained since `base` and subtracts those used.
    fn restart(&mut self, start: Time) {
        let came = self.sustained * u128::from((start - self.base).as_nanos());
        // The bucket can overflow only in the pause, since sending reduces the tokens.
        self.tokens = (self.tokens + came).saturating_sub(self.sent).min(self.bucket);
        (self.base, self.sent) = (start, 0);
    }
}
