//! A token bucket with a second rate, such as cable's PowerBoost: faster while tokens last.
use crate::trace::{Volume, volume};
use fathom_units::{Bytes, Duration, Rate, Time};

/// A rate, and a higher one while tokens last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoostParams {
    /// At which tokens come, and so what is sent in the long run.
    pub sustained: Rate,
    /// While tokens last.
    pub peak: Rate,
    /// Tokens that can be saved up; full at the start.
    pub bucket: Bytes,
}

/// A link that has sent min(peak * t, bucket + sustained * t) by the time t, if it began with a full bucket.
pub(crate) struct Boost {
    sustained: u128,
    peak: u128,
    bucket: Volume,
    /// Since when it has sent without a pause.
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
        assert!(0 < sustained && sustained < peak, "a boost of {} to {}", params.sustained, params.peak);
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
    /// Tokens have come since the base, and what was sent has used some.
    fn restart(&mut self, start: Time) {
        let came = self.sustained * u128::from((start - self.base).as_nanos());
        // While it sends tokens only become fewer, so that the bucket can overflow in the pause alone.
        self.tokens = (self.tokens + came).saturating_sub(self.sent).min(self.bucket);
        (self.base, self.sent) = (start, 0);
    }
}
