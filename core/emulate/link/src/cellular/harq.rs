//! Hybrid ARQ: a lost transmission is repeated one round later, while other processes continue.
use super::outage::Outages;
use fathom_units::{Duration, Ratio, Rng, Time};

/// LTE, TS 36.321 and 36.213 (FDD): 8 processes, so a repetition comes 8 intervals later.
const PROCESSES: usize = 8;
/// UMTS with 10 ms intervals, TS 25.309: 4 processes. With 2 ms there are 8.
const PROCESSES_OF_10_MS: usize = 4;

/// Tracks which intervals are used by repetitions.
pub(crate) struct Harq {
    tti: u64,
    failing: Ratio,
    rng: Rng,
    /// For each process, the first interval in which it can send new data.
    free: [u64; PROCESSES],
    processes: u64,
}

impl Harq {
    pub(crate) fn new(failing: Ratio, tti: Duration, rng: Rng) -> Self {
        let is_long = tti >= Duration::from_millis(10);
        let processes = if is_long { PROCESSES_OF_10_MS } else { PROCESSES } as u64;
        Harq { tti: tti.as_nanos(), failing, rng, free: [0; PROCESSES], processes }
    }

    /// The first interval from `from` on without a repetition.
    pub(crate) fn free(&self, from: u64) -> u64 {
        let mut interval = from;
        while self.free[self.process(interval)] > interval {
            interval += 1;
        }
        interval
    }

    /// Sends in `interval`; returns the interval in which the data is received.
    pub(crate) fn transmit(&mut self, interval: u64, outages: &mut Outages) -> u64 {
        let mut attempt = interval;
        while self.failing.0 > 0.0 && self.rng.chance(self.failing.0) {
            attempt = self.repetition(attempt, outages);
        }
        self.free[self.process(interval)] = attempt + 1;
        attempt
    }

    /// The first interval of the process after `attempt` that is outside outages.
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
