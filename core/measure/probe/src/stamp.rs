//! Converts kernel timestamps, which are wall-clock time, to times of the run.
use alloc::vec::Vec;
use fathom_units::{Duration, Time, WallTime};

/// Maximum age of a timestamp. Older ones, and those in the future, are implausible and ignored.
const OLDEST_STAMP_NS: u64 = 1_000_000_000;
/// NTP slews both clocks equally, so their difference changes only when the wall clock is set. The
/// two readings lie within a microsecond unless the process is interrupted between them.
const STEP: Duration = Duration::from_millis(1);

/// Converts CLOCK_REALTIME timestamps to the monotonic clock, given both clocks at reception.
#[derive(Clone, Default, Debug)]
pub struct StampConverter {
    /// Wall-clock time minus monotonic time at the last reading, in ns.
    last_gap: Option<i128>,
    steps_s: Vec<f64>,
    converted: u64,
    refused: u64,
}

impl StampConverter {
    /// Monotonic time of `stamp`, given both clocks read just after reception. `None` if there is
    /// no timestamp, if it is not 0 to 1 s old, or if the wall clock was set since the last
    /// reading; use user-space time then.
    pub fn convert(&mut self, stamp: Option<WallTime>, wall: WallTime, now: Time) -> Option<Time> {
        let stepped = self.watch(wall, now);
        let age = stamp.and_then(|s| wall.0.checked_sub(s.0)).filter(|age| *age <= OLDEST_STAMP_NS);
        match age {
            Some(age) if !stepped => {
                self.converted += 1;
                Some(now.saturating_sub(Duration::from_nanos(age)))
            }
            _ => {
                self.refused += 1;
                None
            }
        }
    }
    /// Compares the clocks and returns whether the wall clock was set since the last reading.
    /// Should be called even if nothing arrives.
    pub fn watch(&mut self, wall: WallTime, now: Time) -> bool {
        let gap = i128::from(wall.0) - i128::from(now.as_nanos());
        let moved = gap - self.last_gap.replace(gap).unwrap_or(gap);
        let stepped = moved.unsigned_abs() >= u128::from(STEP.as_nanos());
        if stepped {
            self.steps_s.push(moved as f64 / 1e9);
        }
        stepped
    }
    /// Steps of the wall clock so far, in seconds; forward is positive.
    pub fn steps_s(&self) -> &[f64] {
        &self.steps_s
    }
    /// Share of received packets with a usable kernel timestamp; 0 if nothing was received.
    pub fn used_ratio(&self) -> f64 {
        let all = self.converted + self.refused;
        if all == 0 { 0.0 } else { self.converted as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Wall-clock time at time `t` of a host with a wall clock that is `offset` ahead.
    fn wall(t: u64, offset: u64) -> WallTime {
        WallTime(t + offset)
    }

    #[test]
    fn timestamps_become_monotonic_despite_wall_clock_steps() {
        const SECOND: u64 = 1_000_000_000;
        let (before, after) = (1_700_000_000 * SECOND, 1_700_003_600 * SECOND);
        let mut converter = StampConverter::default();
        let mut results = vec![];
        // Packets arrive at these seconds and are read 3 us later. The wall clock is set one hour
        // forward at 5 s: one packet is stamped just before that and read just after.
        for (second, stamped, read) in [
            (1, before, before),
            (2, before, before),
            (4, before, before),
            (5, before, after),
            (6, after, after),
            (7, after, after),
        ] {
            let (arrival, reading) = (second * SECOND, second * SECOND + 3_000);
            let stamp = Some(wall(arrival, stamped));
            results.push(converter.convert(stamp, wall(reading, read), Time::from_nanos(reading)));
        }
        let want = [Some(1), Some(2), Some(4), None, Some(6), Some(7)];
        assert_eq!(results, want.map(|s| s.map(|s: u64| Time::from_nanos(s * SECOND))));
        assert_eq!(converter.steps_s(), [3600.0]);
        assert!((converter.used_ratio() - 5.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_small_backward_step_is_rejected() {
        let mut converter = StampConverter::default();
        converter.watch(WallTime(1_000_000_000), Time::ZERO);
        // 10 ms later the wall clock shows 490 ms less, so the timestamp would seem 500 ms old.
        let got = converter.convert(
            Some(WallTime(1_000_000_000)),
            WallTime(1_500_000_000),
            Time::from_nanos(10_000_000),
        );
        assert_eq!(got, None);
    }

    #[test]
    fn missing_future_and_stale_timestamps_are_rejected() {
        let (mut converter, now) = (StampConverter::default(), Time::from_nanos(5_000_000_000));
        let wall = WallTime(10_000_000_000);
        for stamp in [None, Some(WallTime(10_000_000_001)), Some(WallTime(8_999_999_999)), Some(WallTime(0))]
        {
            assert_eq!(converter.convert(stamp, wall, now), None, "{stamp:?}");
        }
        assert_eq!(converter.used_ratio(), 0.0);
    }
}
