//! The delay of one reflector in one direction, and what of it is the path's.
use super::flow::seconds;
use fathom_units::Time;

/// While this direction is quiet a longer delay becomes the baseline after one to two of these, s: a beam or a cell changes
/// in less than a second, and the least of 4 s is no jitter.
const BUCKET: f64 = 4.0;
/// More than this is a clock that was set, no queue, s. The longest queues known are of some tens of seconds.
const CLOCK_STEP: f64 = 60.0;

/// Delays of one reflector in one direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Track {
    last: Option<(Time, f64)>,
    baseline: Baseline,
}

/// The least of the present bucket and of the one before.
#[derive(Clone, Copy, Default, Debug)]
struct Baseline {
    before: Option<f64>,
    present: Option<f64>,
    begun: Time,
}

impl Track {
    /// A delay came, s. A quiet direction cannot be why it is longer.
    pub(crate) fn sample(&mut self, at: Time, delay: f64, is_quiet: bool) {
        self.last = Some((at, delay));
        if (delay - self.baseline.least().unwrap_or(delay)).abs() > CLOCK_STEP {
            self.baseline = Baseline::default();
        }
        self.baseline.sample(at, delay, is_quiet);
    }
    /// Excess over the baseline, s, unless the last sample is older than `fresh` s.
    pub(crate) fn excess(&self, now: Time, fresh: f64) -> Option<f64> {
        let (at, delay) = self.last?;
        (seconds(at, now) <= fresh).then(|| delay - self.baseline.least().unwrap_or(delay))
    }
    /// Since the last sample, s; without end if there was none.
    pub(crate) fn age(&self, now: Time) -> f64 {
        self.last.map_or(f64::INFINITY, |(at, _)| seconds(at, now))
    }
    /// The path became this much longer, s.
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
            // The bucket begins anew with the quiet, so that no queue's delay counts as time of it.
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
