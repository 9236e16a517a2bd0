//! How the time of a sample becomes whole milliseconds.
use fathom_units::WallTime;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Gives the times at which one series was probed as milliseconds, each less than one from the truth.
///
/// Probes are sent on a regular grid, give or take some microseconds. Rounded each by itself, those next to the middle between two
/// milliseconds would go up and down at random, which no packing makes small. So a time that continues the last interval to within a
/// millisecond is taken to do so.
#[derive(Clone, Copy, Default, Debug)]
pub struct Grid {
    /// The last time that was given.
    last_ms: u64,
    /// From the one before it to it.
    interval_ms: i64,
}

impl Grid {
    /// The millisecond that `at` is kept as.
    pub fn place(&mut self, at: WallTime) -> u64 {
        let expected_ms = self.last_ms.saturating_add_signed(self.interval_ms);
        let off = at.0.abs_diff(expected_ms.saturating_mul(NANOS_PER_MILLI));
        let placed = if off < NANOS_PER_MILLI { expected_ms } else { nearest(at) };
        self.interval_ms = placed.wrapping_sub(self.last_ms) as i64;
        self.last_ms = placed;
        placed
    }
}

/// The millisecond nearest to a time.
pub(crate) fn nearest(at: WallTime) -> u64 {
    at.0.saturating_add(NANOS_PER_MILLI / 2) / NANOS_PER_MILLI
}
