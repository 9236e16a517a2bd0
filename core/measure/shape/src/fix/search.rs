//! Searches the knee of one direction with a load through the shaper at a series of rates.
use super::latency::RoundTrips;
use super::message::{Action, Event, Measurement, Output, Phase, Purpose};
use super::throughput::Throughput;
use super::{Budget, Counters, Isolation};
use crate::knee::{Failure, Found, Knee, Step, Trial};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, PhaseKind};
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};

/// Duration of a trial. The first half covers slow start and the remains of bursts on the line; the
/// second half is evaluated. At a rate that is 1 % too high, the queue has reached 20 ms in the
/// middle of the second half.
const TRIAL: Duration = Duration::from_secs(4);
const IDLE: Duration = Duration::from_secs(2);
/// No trial starts later, so that a search takes at most one minute.
const LATEST_START: Duration = Duration::from_secs(55);
/// Maximum number of trials; the search usually ends earlier.
const TRIALS: usize = 13;
const READ_INTERVAL: Duration = Duration::from_millis(50);
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// The shaper of the other direction, which carries only ACKs, is set to this multiple of its
/// line's rate, so that it is not the limit.
const OTHER_TIMES: u64 = 2;
/// A load below this share of the shaper's rate does not fill it.
const DEMAND_RATIO: f64 = 0.9;
/// A delay below this multiple of the budget may be coincidence.
const MARGINAL_TIMES: u64 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SearchConfig {
    pub(super) direction: Direction,
    pub(super) budget: Budget,
    pub(super) isolation: Isolation,
    /// Rate of the line in the other direction, if that is shaped.
    pub(super) other: Option<Rate>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoKnee {
    Line(Failure),
    OutOfTrials,
}

#[derive(Clone, PartialEq, Debug)]
struct Running {
    offered: Rate,
    since: Time,
    round_trips: RoundTrips,
    throughput: Throughput,
    last_read: Time,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Search {
    config: SearchConfig,
    knee: Knee,
    begun: Time,
    idle: RoundTrips,
    trial: Option<Running>,
    result: Option<Result<Found, NoKnee>>,
}

impl Search {
    pub(super) fn new(config: SearchConfig, knee: Knee, now: Time) -> Self {
        Search { config, knee, begun: now, idle: RoundTrips::default(), trial: None, result: None }
    }
    pub(super) const fn direction(&self) -> Direction {
        self.config.direction
    }
    pub(super) const fn knee(&self) -> &Knee {
        &self.knee
    }
    pub(super) const fn begun(&self) -> Time {
        self.begun
    }
    pub(super) fn measurement(&self) -> Measurement {
        let load = Phase { kind: self.load(), min: TRIAL, max: TRIAL };
        let mut phases = Vec::from([Phase { kind: PhaseKind::Idle, min: IDLE, max: IDLE }]);
        phases.extend([load; TRIALS]);
        Measurement {
            purpose: Purpose::Search(self.config.direction),
            phases,
            probe_interval: PROBE_INTERVAL,
            segment_bytes: None,
        }
    }
    const fn load(&self) -> PhaseKind {
        super::machine::load(self.config.direction)
    }
    pub(super) fn phase_started(
        &mut self,
        kind: PhaseKind,
        at: Time,
        now: Time,
        outputs: &mut VecDeque<Output>,
    ) {
        if self.result.is_some() || kind != self.load() {
            return;
        }
        let is_over = now.saturating_since(self.begun) > LATEST_START;
        match self.knee.step(is_over) {
            Step::Try(offered) => self.begin_trial(offered, at, now, outputs),
            Step::Found(found) => self.end(Ok(found), outputs),
            Step::Failed(failure) => self.end(Err(NoKnee::Line(failure)), outputs),
        }
    }
    fn begin_trial(&mut self, offered: Rate, at: Time, now: Time, outputs: &mut VecDeque<Output>) {
        let direction = self.config.direction;
        let wide = |rate: Rate| Rate::from_bits_per_second(rate.as_bits_per_second() * OTHER_TIMES);
        let rates = PerDirection::from_fn(|each| {
            if each == direction { Some(offered) } else { self.config.other.map(wide) }
        });
        outputs.push_back(Output::Action(Action::SetRates(rates)));
        outputs.push_back(Output::Event(Event::TrialStarted { direction, rate: offered }));
        self.trial = Some(Running {
            offered,
            since: at + TRIAL / 2,
            round_trips: RoundTrips::default(),
            throughput: Throughput::new(direction),
            last_read: now,
        });
    }
    pub(super) fn observed(&mut self, metric: Metric, observation: &Observation) {
        match &mut self.trial {
            None => self.idle.add(metric, observation),
            Some(trial) if observation.at >= trial.since => trial.round_trips.add(metric, observation),
            Some(_) => {}
        }
    }
    pub(super) fn next_read(&self) -> Option<Time> {
        self.trial.as_ref().map(|trial| trial.since.max(trial.last_read + READ_INTERVAL))
    }
    pub(super) fn read_started(&mut self, now: Time) {
        if let Some(trial) = &mut self.trial {
            trial.last_read = now;
        }
    }
    pub(super) fn counters(&mut self, counters: &Counters, now: Time) {
        if let (Some(trial), Some(shaper)) = (&mut self.trial, &counters.shapers[self.config.direction]) {
            trial.throughput.note(now, shaper);
        }
    }
    /// Handles the end of a phase. An interrupted trial has no second half to evaluate.
    pub(super) fn phase_ended(&mut self, is_complete: bool, outputs: &mut VecDeque<Output>) {
        let Some(trial) = self.trial.take().filter(|_| is_complete && self.result.is_none()) else { return };
        let delivered = trial.throughput.since(trial.since).unwrap_or_default();
        let needed = trial.offered.as_bits_per_second() as f64 * DEMAND_RATIO;
        let allowed = self.config.budget.at(self.config.isolation, trial.offered);
        // No response is worse than any delay.
        let delay = trial.round_trips.above(&self.idle).unwrap_or(TRIAL);
        let trial = Trial {
            offered: trial.offered,
            delivered,
            delay,
            is_delayed: delay > allowed,
            is_marginal: delay < allowed * MARGINAL_TIMES,
            is_demanded: delivered.as_bits_per_second() as f64 >= needed,
        };
        self.knee.note(trial);
        let direction = self.config.direction;
        outputs.push_back(Output::Action(Action::StoreTrials(direction)));
        outputs.push_back(Output::Event(Event::TrialEnded { direction, trial }));
        if let Step::Found(found) = self.knee.step(false) {
            self.end(Ok(found), outputs);
        }
    }
    fn end(&mut self, result: Result<Found, NoKnee>, outputs: &mut VecDeque<Output>) {
        self.result = Some(result);
        self.trial = None;
        outputs.push_back(Output::Action(Action::EndMeasurement));
    }
    /// The result, if the search ended the test.
    pub(super) const fn result(&self) -> Option<Result<Found, NoKnee>> {
        self.result
    }
    /// The result after all phases of the test.
    pub(super) fn last_result(&self) -> Result<Found, NoKnee> {
        match self.result {
            Some(result) => result,
            None => match self.knee.step(true) {
                Step::Found(found) => Ok(found),
                Step::Failed(failure) => Err(NoKnee::Line(failure)),
                Step::Try(_) => Err(NoKnee::OutOfTrials),
            },
        }
    }
}
