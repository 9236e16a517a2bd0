//! Rounds send times to whole milliseconds.
use fathom_units::WallTime;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Rounds the send times of one series to milliseconds, with an error below 1 ms.
///
/// Probes are sent on a regular grid with a few microseconds of jitter. If each time were rounded
/// on its own, times near half a millisecond would go up or down at random and compress badly. So a
/// time that continues the last interval to within a millisecond is rounded to that.
#[derive(Clone, Copy, Default, Debug)]
pub struct Grid {
    /// The last rounded time.
    last_ms: u64,
    /// The last interval.
    interval_ms: i64,
}

impl Grid {
    /// The rounded time of `at`.
    pub fn place(&mut self, at: WallTime) -> u64 {
        let expected_ms = self.last_ms.saturating_add_signed(self.interval_ms);
        let off = at.0.abs_diff(expected_ms.saturating_mul(NANOS_PER_MILLI));
        let placed = if off < NANOS_PER_MILLI { expected_ms } else { nearest(at) };
        self.interval_ms = placed.wrapping_sub(self.last_ms) as i64;
        self.last_ms = placed;
        placed
    }
}

/// The nearest millisecond.
pub(crate) fn nearest(at: WallTime) -> u64 {
    at.0.saturating_add(NANOS_PER_MILLI / 2) / NANOS_PER_MILLI
}
