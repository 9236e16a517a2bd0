//! Outages of a mobile link.
use super::OutageParams;
use alloc::collections::VecDeque;
use fathom_units::{Duration, Rng, Time};

/// Draws outages as far ahead as needed.
pub(crate) struct Outages {
    params: Option<OutageParams>,
    rng: Rng,
    /// Start and end of outages that may still be queried.
    known: VecDeque<(Time, Time)>,
    drawn_until: Time,
}

impl Outages {
    pub(crate) const fn new(params: Option<OutageParams>, rng: Rng) -> Self {
        Outages { params, rng, known: VecDeque::new(), drawn_until: Time::ZERO }
    }
    /// The end of the outage that contains `time`.
    pub(crate) fn end(&mut self, time: Time) -> Option<Time> {
        let params = self.params?;
        while self.drawn_until <= time {
            let start = self.drawn_until + self.exponential(params.every);
            // At least 1 ns, so that the loop makes progress.
            self.drawn_until = start + self.exponential(params.length) + Duration::from_nanos(1);
            self.known.push_back((start, self.drawn_until));
        }
        let (_, end) = self.known.iter().find(|(start, end)| *start <= time && time < *end)?;
        Some(*end)
    }
    /// Discards outages before `now`, which will not be queried again.
    pub(crate) fn forget(&mut self, now: Time) {
        while self.known.front().is_some_and(|(_, end)| *end <= now) {
            self.known.pop_front();
        }
    }
    fn exponential(&mut self, mean: Duration) -> Duration {
        // In (0, 1], since the logarithm of 0 is undefined.
        let uniform = 1.0 - self.rng.next_f64();
        Duration::from_secs_f64(-libm::log(uniform) * mean.as_secs_f64())
    }
}
