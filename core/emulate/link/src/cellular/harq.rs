//! Hybrid ARQ: what was not received is sent again one round later, while other processes go on.
use super::outage::Outages;
use fathom_units::{Duration, Ratio, Rng, Time};

/// LTE, TS 36.321 and 36.213 (FDD): 8 processes, so that a repetition comes 8 intervals later.
const PROCESSES: usize = 8;
/// UMTS with intervals of 10 ms, TS 25.309: 4 processes. With 2 ms there are 8.
const PROCESSES_OF_10_MS: usize = 4;

/// Which intervals are taken by repetitions.
pub(crate) struct Harq {
    tti: u64,
    failing: Ratio,
    rng: Rng,
    /// For each process the first interval in which it can send something new.
    free: [u64; PROCESSES],
    processes: u64,
}

impl Harq {
    pub(crate) fn new(failing: Ratio, tti: Duration, rng: Rng) -> Self {
        let is_long = tti >= Duration::from_millis(10);
        let processes = if is_long { PROCESSES_OF_10_MS } else { PROCESSES } as u64;
        Harq { tti: tti.as_nanos(), failing, rng, free: [0; PROCESSES], processes }
    }

    /// The first interval from `from` on that no repetition takes.
    pub(crate) fn free(&self, from: u64) -> u64 {
        let mut interval = from;
        while self.free[self.process(interval)] > interval {
            interval += 1;
        }
        interval
    }

    /// Sends in `interval`; gives the interval in which it was received.
    pub(crate) fn transmit(&mut self, interval: u64, outages: &mut Outages) -> u64 {
        let mut attempt = interval;
        while self.failing.0 > 0.0 && self.rng.chance(self.failing.0) {
            attempt = self.repetition(attempt, outages);
        }
        self.free[self.process(interval)] = attempt + 1;
        attempt
    }

    /// The next of the process's intervals after `attempt` that lies in no outage.
    fn repetition(&self, attempt: u64, outages: &mut Outages) -> u64 {
        let mut next = attempt + self.processes;
        while let Some(end) = outages.end(Time::from_nanos(next.saturating_mul(self.tti))) {
            let rounds = (end.as_nanos().div_ceil(self.tti) - next).div_ceil(self.processes);
            next += rounds.max(1) * self.processes;
        }
        next
    }

    const fn process(&self, interval: u64) -> usize {
        (interval % self.processes) as usize
    }
}
