//! DualPI2's controller: one probability for both queues.
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
    /// RFC 9332's p'.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }
    /// p_CL: that of an L4S mark.
    pub(super) fn coupled(&self, params: &DualPi2Params) -> f64 {
        self.probability * f64::from(params.coupling_factor)
    }

    /// The updates that have become due since the last call. `heads` came at these times, and nothing left since.
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
        // Without drops at overload the probability ends where every L4S packet is marked, which keeps the coupling.
        let most = if params.drop_on_overload { 1.0 } else { 1.0 / f64::from(params.coupling_factor) };
        let wanted = self.probability + params.alpha * distance + params.beta * change;
        self.probability = wanted.clamp(0.0, most);
        self.last_delay = delay;
    }
}
