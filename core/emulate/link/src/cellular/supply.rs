//! The capacity of an interval.
use super::CellularRate;
use crate::trace::{RateTrace, Volume};
use alloc::sync::Arc;
use fathom_units::{Duration, Rng, Time};

/// Time between steps of the walk: the coherence time of slow fading at the speed of a car.
const STEP: Duration = Duration::from_millis(100);
/// The largest step is the range divided by this: crossing the range takes about 10 s.
const STEPS_ACROSS: u64 = 10;

pub(crate) struct Supply {
    tti: u64,
    source: Source,
}

enum Source {
    Walk(Walk),
    Trace(Arc<RateTrace>),
}

impl Supply {
    /// # Panics
    /// If the rate can be zero forever.
    pub(crate) fn new(rate: &CellularRate, tti: Duration, rng: Rng) -> Self {
        let source = match rate {
            CellularRate::Trace(trace) => Source::Trace(trace.clone()),
            CellularRate::Walk { low, high } => {
                let [low, high] = [low, high].map(|bound| bound.as_bits_per_second());
                assert!(0 < low && low <= high, "invalid rate range: {low} to {high} bit/s");
                Source::Walk(Walk::new(low, high, rng))
            }
        };
        Supply { tti: tti.as_nanos(), source }
    }
    /// The capacity of `interval`; intervals must not decrease.
    pub(crate) fn of(&mut self, interval: u64) -> Volume {
        let start = Time::from_nanos(interval.saturating_mul(self.tti));
        match &mut self.source {
            Source::Walk(walk) => u128::from(walk.rate(start)) * u128::from(self.tti),
            Source::Trace(trace) => trace.by(start + Duration::from_nanos(self.tti)) - trace.by(start),
        }
    }
    /// The first interval from `from` on with a rate above zero.
    pub(crate) fn passing(&self, from: u64) -> u64 {
        match &self.source {
            Source::Walk(_) => from,
            Source::Trace(trace) => {
                let start = Time::from_nanos(from.saturating_mul(self.tti));
                from.max(trace.passing(start).as_nanos() / self.tti)
            }
        }
    }
}

/// Uniform steps, reflected at the bounds: in the long run the rate is uniformly distributed.
struct Walk {
    low: u64,
    width: u64,
    above: u64,
    step: u64,
    rng: Rng,
}

impl Walk {
    fn new(low: u64, high: u64, mut rng: Rng) -> Self {
        let width = high - low;
        Walk { low, width, above: rng.below(width + 1), step: 0, rng }
    }
    fn rate(&mut self, time: Time) -> u64 {
        let step = time.as_nanos() / STEP.as_nanos();
        while self.step < step {
            self.step += 1;
            self.above = self.next();
        }
        self.low + self.above
    }
    fn next(&mut self) -> u64 {
        let reach = self.width / STEPS_ACROSS;
        // Shifted by the reach so that it is never negative.
        let shifted = self.above + self.rng.below(2 * reach + 1);
        let up = shifted.max(reach) - reach;
        let up = if shifted < reach { reach - shifted } else { up };
        if up > self.width { 2 * self.width - up } else { up }
    }
}
