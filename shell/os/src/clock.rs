//! The monotonic clock of a run, and the wall clock.
use crate::system_clock::monotonic_ns;
pub use crate::system_clock::{boot_now, utc_offset_s, wall_now};
use fathom_units::{Duration, Time, WallTime};

/// The monotonic clock of the system, counted from the creation of this value. Copies share the
/// same origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A clock that reads zero now.
    #[must_use]
    pub fn start() -> Self {
        Clock { origin_ns: monotonic_ns() }
    }
    /// Time since the clock's creation.
    #[must_use]
    pub fn now(self) -> Time {
        self.time_of_monotonic(monotonic_ns())
    }
    /// Converts a reading of CLOCK_MONOTONIC in nanoseconds; [`Time::ZERO`] if it is before the
    /// creation.
    #[must_use]
    pub const fn time_of_monotonic(self, monotonic_ns: u64) -> Time {
        Time::from_nanos(monotonic_ns.saturating_sub(self.origin_ns))
    }
}

/// Wall and monotonic time of the same moment: of up to three pairs of readings, the fastest. One
/// pair is enough if it took less than a microsecond: some systems need a system call per reading.
#[must_use]
pub fn both_clocks(clock: Clock) -> (WallTime, Time) {
    let mut best = (Duration::MAX, WallTime(0), Time::ZERO);
    for _ in 0..3 {
        let before = clock.now();
        let (wall, after) = (wall_now(), clock.now());
        best = best.min((after - before, wall, after));
        if best.0 < Duration::from_micros(1) {
            break;
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_its_creation_and_never_back() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
        assert!(first.as_secs_f64() < 5.0, "reads {first} just after its creation");
        assert_eq!(clock.time_of_monotonic(0), Time::ZERO);
    }

    #[test]
    fn both_clocks_agree_with_themselves() {
        let clock = Clock::start();
        let gap = |(wall, now): (WallTime, Time)| wall.0 - now.as_nanos();
        let gaps: Vec<u64> = (0..100).map(|_| gap(both_clocks(clock))).collect();
        let (low, high) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(high - low < 1_000_000, "clocks differ by {low} to {high} ns");
    }
}
