//! PIE's estimate of the departure rate, which converts a backlog to a delay.
use crate::Variant;
use fathom_units::{Bytes, Duration, Time};

/// Bytes per measurement, and the minimum backlog to start one. Source: RFC 8033 section 5.2.
const THRESHOLD: Bytes = Bytes(16_384);
/// Weight of the newest measurement. Source: RFC 8033 appendix B.
const WEIGHT_RFC: f64 = 0.25;
/// Weight of the newest measurement in Linux.
const WEIGHT_LINUX: f64 = 0.125;

/// Measures how long [`THRESHOLD`] bytes take to leave while there is a queue.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DrainMeter {
    /// Start of the current measurement, and the bytes that have left since.
    running: Option<(Time, Bytes)>,
    /// RFC: seconds per [`THRESHOLD`]. Linux: bytes per second.
    average: Option<f64>,
}

impl DrainMeter {
    pub(super) fn is_known(&self) -> bool {
        self.average.is_some()
    }

    /// Records a departure that leaves `backlog`. Returns the length of a completed measurement, or
    /// 0. In Linux the departure that starts a measurement counts, and the next starts at its end.
    pub(super) fn on_dequeue(&mut self, variant: Variant, len: Bytes, backlog: Bytes, now: Time) -> Duration {
        let may_start = backlog >= THRESHOLD;
        if may_start && variant == Variant::Linux {
            self.running.get_or_insert((now, Bytes::ZERO));
        }
        let passed = self.count(variant, len, now);
        if passed > Duration::ZERO {
            self.running = None;
        }
        if may_start {
            self.running.get_or_insert((now, Bytes::ZERO));
        }
        passed
    }

    fn count(&mut self, variant: Variant, len: Bytes, now: Time) -> Duration {
        let Some((since, bytes)) = &mut self.running else { return Duration::ZERO };
        *bytes += len;
        let passed = now - *since;
        if *bytes < THRESHOLD || passed == Duration::ZERO {
            return Duration::ZERO;
        }
        let (seconds, bytes) = (passed.as_secs_f64(), bytes.get() as f64);
        let (newest, weight) = match variant {
            Variant::Rfc => (seconds, WEIGHT_RFC),
            Variant::Linux => (bytes / seconds, WEIGHT_LINUX),
        };
        self.average = Some(self.average.map_or(newest, |average| average + weight * (newest - average)));
        passed
    }

    /// How long `backlog` takes to leave; zero until there is a measurement.
    pub(super) fn delay(&self, variant: Variant, backlog: Bytes) -> Duration {
        let Some(average) = self.average else { return Duration::ZERO };
        let backlog = backlog.get() as f64;
        Duration::from_secs_f64(match variant {
            Variant::Rfc => backlog * average / THRESHOLD.get() as f64,
            Variant::Linux => backlog / average,
        })
    }
}
