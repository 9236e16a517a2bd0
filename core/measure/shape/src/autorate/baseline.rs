//! Delay of one reflector in one direction, and its baseline.
use super::flow::seconds;
use fathom_units::Time;

/// While this direction is quiet, a longer delay becomes the baseline after one to two of these
/// periods, s. A satellite beam or a cell changes in less than a second, and the minimum over 4 s
/// excludes jitter.
const BUCKET: f64 = 4.0;
/// A larger change is a clock step, s. The longest known queues last some tens of seconds.
const CLOCK_STEP: f64 = 60.0;

/// Delays of one reflector in one direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Track {
    last: Option<(Time, f64)>,
    baseline: Baseline,
}

/// Minimum of the current and the previous period.
#[derive(Clone, Copy, Default, Debug)]
struct Baseline {
    before: Option<f64>,
    present: Option<f64>,
    begun: Time,
}

impl Track {
    /// Records a delay, s. A quiet direction cannot be the cause of a longer delay.
    pub(crate) fn sample(&mut self, at: Time, delay: f64, is_quiet: bool) {
        self.last = Some((at, delay));
        if (delay - self.baseline.least().unwrap_or(delay)).abs() > CLOCK_STEP {
            self.baseline = Baseline::default();
        }
        self.baseline.sample(at, delay, is_quiet);
    }
    /// Delay above the baseline, s; `None` if the last sample is older than `fresh` s.
    pub(crate) fn excess(&self, now: Time, fresh: f64) -> Option<f64> {
        let (at, delay) = self.last?;
        (seconds(at, now) <= fresh).then(|| delay - self.baseline.least().unwrap_or(delay))
    }
    /// Age of the last sample, s; infinite without samples.
    pub(crate) fn age(&self, now: Time) -> f64 {
        self.last.map_or(f64::INFINITY, |(at, _)| seconds(at, now))
    }
    /// Raises the baseline after the path became longer, s.
    pub(crate) fn shift(&mut self, longer: f64) {
        for least in [&mut self.baseline.before, &mut self.baseline.present].into_iter().flatten() {
            *least += longer;
        }
    }
}

impl Baseline {
    fn least(&self) -> Option<f64> {
        match (self.before, self.present) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
    fn sample(&mut self, at: Time, delay: f64, is_quiet: bool) {
        if !is_quiet {
            // The period restarts with the quiet, so that it excludes queueing delay.
            self.begun = at;
        } else if seconds(self.begun, at) > BUCKET {
            (self.before, self.present, self.begun) = (self.present, None, at);
        }
        let is_lower = self.present.is_none_or(|least| delay < least);
        if is_lower && (is_quiet || self.least().is_none_or(|least| delay < least)) {
            self.present = Some(delay);
        }
    }
}
