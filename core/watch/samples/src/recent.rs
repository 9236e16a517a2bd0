//! Compact samples for windows that end now.
use crate::{Code, Sample};
use fathom_units::WallTime;

/// A time in milliseconds modulo 2^32. Differences of up to 24 days in either direction are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortTime(u32);

impl ShortTime {
    /// Truncates a time to milliseconds.
    pub const fn of(at: WallTime) -> Self {
        ShortTime((at.0 / 1_000_000) as u32)
    }
    /// Age at `now` in milliseconds; negative for a later time.
    pub const fn age_ms(self, now: WallTime) -> i32 {
        ShortTime::of(now).0.wrapping_sub(self.0) as i32
    }
}

/// A [`Sample`] with a short time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecentSample {
    /// When its probe was sent.
    pub at: ShortTime,
    /// Its outcome.
    pub code: Code,
}

impl RecentSample {
    /// The compact form of a sample.
    pub fn of(sample: &Sample) -> Self {
        RecentSample { at: ShortTime::of(sample.at), code: Code::of(sample.outcome) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const DAY_MS: u64 = 86_400_000;

    #[test]
    fn ages_of_days_are_exact_in_both_directions() {
        for now_ms in [30 * DAY_MS, u64::from(u32::MAX), 20_000 * DAY_MS] {
            for age_ms in [0, 1, 60_000, 24 * DAY_MS] {
                let (now, then) = (WallTime(now_ms * MS + 7), WallTime((now_ms - age_ms) * MS));
                let age = i32::try_from(age_ms).unwrap();
                assert_eq!(ShortTime::of(then).age_ms(now), age, "{now_ms}");
                assert_eq!(ShortTime::of(now).age_ms(then), -age, "{now_ms}");
            }
        }
    }
}
