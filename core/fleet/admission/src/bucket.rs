//! A token bucket.

/// An amount that may be used per period. Unused parts of one period are kept.
///
/// One use may be larger than the whole period's amount: it then needs a full bucket, which is in
/// debt afterwards. Otherwise a low limit would refuse some requests forever.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    amount: i128,
    period_ms: i128,
    /// What is left, times the period in milliseconds.
    level: i128,
    at_ms: u64,
}

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub fn new(amount: u64, period_ms: u64, now_ms: u64) -> Bucket {
        let (amount, period_ms) = (i128::from(amount.max(1)), i128::from(period_ms.max(1)));
        Bucket { amount, period_ms, level: amount * period_ms, at_ms: now_ms }
    }
    /// Takes a number of units.
    ///
    /// # Errors
    /// The number of seconds after which they are available.
    pub fn take(&mut self, units: u64, now_ms: u64) -> Result<(), u64> {
        self.refill(now_ms);
        let needed = i128::from(units).min(self.amount) * self.period_ms;
        let missing = needed - self.level;
        if missing > 0 {
            let wait_ms = (missing + self.amount - 1) / self.amount;
            return Err(u64::try_from((wait_ms + 999) / 1_000).unwrap_or(u64::MAX).max(1));
        }
        self.level -= i128::from(units) * self.period_ms;
        Ok(())
    }
    /// Returns units that were taken and not used.
    pub fn put_back(&mut self, units: u64) {
        self.level = (self.level + i128::from(units) * self.period_ms).min(self.amount * self.period_ms);
    }
    fn refill(&mut self, now_ms: u64) {
        // A clock that is set back only ends the refilling for a moment.
        let elapsed = i128::from(now_ms.saturating_sub(self.at_ms));
        self.at_ms = now_ms;
        self.level = (self.level + elapsed * self.amount).min(self.amount * self.period_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_amount_per_period() {
        let mut bucket = Bucket::new(100, 60_000, 0);
        assert_eq!(bucket.take(100, 0), Ok(()));
        assert_eq!(bucket.take(1, 0), Err(1));
        assert_eq!(bucket.take(50, 0), Err(30));
        assert_eq!(bucket.take(50, 29_999), Err(1));
        assert_eq!(bucket.take(50, 30_000), Ok(()));
        bucket.put_back(50);
        assert_eq!(bucket.take(50, 30_000), Ok(()));
        // More than the whole needs a full bucket, and is paid back.
        assert_eq!(bucket.take(300, 30_000), Err(60));
        assert_eq!(bucket.take(300, 90_000), Ok(()));
        assert_eq!(bucket.take(1, 90_000), Err(121));
        // A clock set back.
        assert_eq!(bucket.take(1, 0), Err(121));
        assert_eq!(bucket.take(1, 121_000), Ok(()));
    }
}
