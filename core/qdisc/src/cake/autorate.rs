//! `autorate-ingress`: the rate of the line before us, from the packets that come off it while it is full.
use fathom_units::{Bytes, Duration, Rate, Time};

/// Longer pauses between packets say nothing more. Source: `sch_cake`, like the rest.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Weight of a sample above the average, and of one below it, as powers of two.
const UP_SHIFT: u32 = 2;
const DOWN_SHIFT: u32 = 8;
/// Least time between two changes of the rate. (Linux means to wait as long, but never notes when it changed the rate.)
const PERIOD: Duration = Duration::from_millis(250);

/// Finds the peak of the rate at which packets arrive. Bursts, as a wireless link makes them, are not the rate: a window
/// ends only with a pause that is longer than the average.
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

    /// A packet arrived. The rate to shape to from now on, if it is time for a new one.
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
        // A sixteenth below, so that the queue forms here.
        Some(Rate::from_bits_per_second(self.peak * 15 / 16 * 8))
    }
}

/// A moving average that rises fast and falls slowly.
const fn moved(average: u64, sample: u64) -> u64 {
    let shift = if sample > average { UP_SHIFT } else { DOWN_SHIFT };
    average - (average >> shift) + (sample >> shift)
}
