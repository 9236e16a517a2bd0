//! `autorate-ingress`: estimates the rate of the upstream link from arrivals.
use fathom_units::{Bytes, Duration, Rate, Time};

/// Upper bound of a pause between packets. Source: `sch_cake`, like the other constants.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// EWMA weights as powers of two: for samples above the average, and below it.
const UP_SHIFT: u32 = 2;
const DOWN_SHIFT: u32 = 8;
/// Minimum time between rate changes. (Linux intends it but never stores the time of a change.)
const PERIOD: Duration = Duration::from_millis(250);

/// Estimates the peak arrival rate. Bursts, as a wireless link produces them, do not count as the
/// rate: a window ends only at a pause that is longer than average.
#[derive(Debug)]
pub(super) struct Estimator {
    last_packet: Option<Time>,
    /// Average time between packets, in ns.
    pause: u64,
    window_start: Time,
    window_bytes: u64,
    /// In bytes per second.
    peak: u64,
    changed: Time,
}

impl Estimator {
    pub(super) fn new(start: Option<Rate>) -> Self {
        Estimator {
            last_packet: None,
            pause: 0,
            window_start: Time::ZERO,
            window_bytes: 0,
            peak: start.map_or(0, |rate| rate.as_bits_per_second() / 8),
            changed: Time::ZERO,
        }
    }

    /// Records an arrival. Returns the new shaper rate when a change is due.
    pub(super) fn arrived(&mut self, len: Bytes, now: Time) -> Option<Rate> {
        let Some(last) = self.last_packet.replace(now) else {
            (self.window_start, self.changed) = (now, now);
            return None;
        };
        self.window_bytes += len.get();
        let pause = now.saturating_since(last).min(MAX_PAUSE).as_nanos();
        self.pause = moved(self.pause, pause);
        if pause <= self.pause {
            return None;
        }
        let window = now.saturating_since(self.window_start);
        let sample = Rate::from_bytes_per(Bytes(self.window_bytes), window).as_bits_per_second() / 8;
        self.peak = moved(self.peak, sample);
        (self.window_start, self.window_bytes) = (now, 0);
        if now.saturating_since(self.changed) <= PERIOD {
            return None;
        }
        self.changed = now;
        // One sixteenth below the estimate, so that the queue forms here.
        Some(Rate::from_bits_per_second(self.peak * 15 / 16 * 8))
    }
}

/// A moving average that rises fast and falls slowly.
const fn moved(average: u64, sample: u64) -> u64 {
    let shift = if sample > average { UP_SHIFT } else { DOWN_SHIFT };
    average - (average >> shift) + (sample >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends pairs of 1000-byte packets; each pair ends a window.
    fn pairs(estimator: &mut Estimator, now: &mut Time, pairs: u32, each: Duration) {
        for _ in 0..pairs {
            for part in [1, 4] {
                *now += each * part / 5;
                estimator.arrived(Bytes(1000), *now);
            }
        }
    }

    #[test]
    fn the_peak_rises_by_a_quarter_and_falls_by_a_256th_of_the_difference() {
        let (mut estimator, mut now) =
            (Estimator::new(Some(Rate::from_bits_per_second(8_000_000))), Time::ZERO);
        // 2000 bytes per 1 ms are 2 MB/s; the start is 1 MB/s. The average pause settles first.
        pairs(&mut estimator, &mut now, 100, Duration::from_millis(1));
        let high = estimator.peak as f64;
        assert!(libm::fabs(high / 2e6 - 1.0) < 1e-3, "{high}");
        // At half the rate, (255/256)^200 = 0.457 of the difference remains. Meanwhile the average
        // pause rises, so some windows are longer than one pair.
        pairs(&mut estimator, &mut now, 200, Duration::from_millis(2));
        let fallen = (estimator.peak as f64 - 1e6) / (high - 1e6);
        assert!((0.44..0.48).contains(&fallen), "{fallen}");
    }

    #[test]
    fn a_long_pause_counts_as_one_second() {
        let mut estimator = Estimator::new(None);
        estimator.arrived(Bytes(1000), Time::ZERO);
        estimator.arrived(Bytes(1000), Time::ZERO + Duration::from_secs(100));
        assert_eq!(estimator.pause, 250_000_000);
    }
}
