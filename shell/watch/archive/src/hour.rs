//! Hours of UTC.
use fathom_units::WallTime;

const HOUR_NS: u64 = 3_600_000_000_000;
/// Time after the end of an hour until it is settled: replies arrive at most 20 minutes late, and
/// take some seconds to the disk.
const SETTLE_NS: u64 = 21 * 60_000_000_000;

/// An hour, counted from 1970-01-01.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Hour(pub(crate) u64);

impl Hour {
    /// The hour that contains a time.
    pub(crate) const fn of(at: WallTime) -> Hour {
        Hour(at.0 / HOUR_NS)
    }
    pub(crate) const fn start(self) -> WallTime {
        WallTime(self.0.saturating_mul(HOUR_NS))
    }
    pub(crate) const fn end(self) -> WallTime {
        self.next().start()
    }
    pub(crate) const fn next(self) -> Hour {
        Hour(self.0.saturating_add(1))
    }
    pub(crate) const fn minus(self, hours: u64) -> Hour {
        Hour(self.0.saturating_sub(hours))
    }
    /// Whether nothing of this hour is expected to change after `now`.
    pub(crate) const fn is_settled(self, now: WallTime) -> bool {
        self.end().0.saturating_add(SETTLE_NS) < now.0
    }
    /// The first hour that is not settled at `now`.
    pub(crate) const fn first_unsettled(now: WallTime) -> Hour {
        Hour::of(WallTime(now.0.saturating_sub(SETTLE_NS + 1)))
    }
    /// Hour of the day.
    pub(crate) const fn of_day(self) -> u64 {
        self.0 % 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_settled_after_its_late_replies() {
        let at = |text: &str| text.parse::<WallTime>().unwrap();
        let hour = Hour::of(at("2026-01-05T09:59:59.999Z"));
        assert_eq!(hour, Hour::of(at("2026-01-05T09:00:00Z")));
        assert_eq!((hour.start(), hour.end()), (at("2026-01-05T09:00"), at("2026-01-05T10:00")));
        assert_eq!((hour.of_day(), hour.next().minus(1)), (9, hour));
        assert!(!hour.is_settled(at("2026-01-05T10:21:00Z")));
        assert!(hour.is_settled(at("2026-01-05T10:21:00.001Z")));
        assert_eq!(Hour::first_unsettled(at("2026-01-05T10:21:00Z")), hour);
        assert_eq!(Hour::first_unsettled(at("2026-01-05T10:21:00.001Z")), hour.next());
        assert!(!Hour(u64::MAX).is_settled(at("2026-01-05T10:21:00Z")), "no overflow");
    }
}
