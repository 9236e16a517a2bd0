//! DualPI2's PI controller: one base probability for both queues.
use super::DualPi2Params;
use crate::timer::Timer;
use fathom_units::{Duration, Time};

pub(super) struct Pi {
    probability: f64,
    last_delay: Duration,
    timer: Timer,
}

impl Pi {
    pub(super) fn new(params: &DualPi2Params) -> Self {
        let timer = Timer::new(Time::ZERO + params.tupdate, params.tupdate);
        Pi { probability: 0.0, last_delay: Duration::ZERO, timer }
    }
    /// p' of RFC 9332.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }
    /// p_CL of RFC 9332: the coupled probability of an L4S mark.
    pub(super) fn coupled(&self, params: &DualPi2Params) -> f64 {
        self.probability * f64::from(params.coupling_factor)
    }

    /// Runs the updates due since the last call. `heads` are the arrival times of the two head
    /// packets, which have not changed since then.
    pub(super) fn catch_up(&mut self, params: &DualPi2Params, heads: [Option<Time>; 2], now: Time) {
        while self.timer.is_due(now) {
            let at = self.timer.last();
            let delays =
                heads.map(|head| head.map_or(Duration::ZERO, |arrived| at.saturating_since(arrived)));
            self.update(params, delays[0].max(delays[1]));
            let is_empty = heads == [None; 2];
            if is_empty && self.probability == 0.0 && self.last_delay == Duration::ZERO {
                self.timer.skip(now);
            }
        }
    }

    fn update(&mut self, params: &DualPi2Params, delay: Duration) {
        let seconds = delay.as_secs_f64();
        let distance = seconds - params.target.as_secs_f64();
        let change = seconds - self.last_delay.as_secs_f64();
        // Without overload drops, the probability is limited to the value at which every L4S packet
        // is marked. That preserves the coupling.
        let most = if params.drop_on_overload { 1.0 } else { 1.0 / f64::from(params.coupling_factor) };
        let wanted = self.probability + params.alpha * distance + params.beta * change;
        self.probability = wanted.clamp(0.0, most);
        self.last_delay = delay;
    }
}
