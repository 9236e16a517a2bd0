//! The state machine: order of the steps.
use super::message::{
    Action, Event, Input, LoadSummary, MeasuredOverhead, Measurement, Output, OverheadSource, Phase, Purpose,
    RollBackReason,
};
use super::overhead::OverheadProbe;
use super::search::{NoKnee, Search, SearchConfig};
use super::verify::{Claim, Verifier, measurement};
use super::{Failure, FixConfig, Isolation, LinkType, Outcome, Report};
use crate::knee::Knee;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_run::threshold::KNEE_MARGINS;
use fathom_units::{Direction, Duration, ETHERNET_PER_PAYLOAD, PerDirection, Rate, Time};

/// Minimum and maximum duration of a loaded phase in the tests before and after.
const LOADED_MIN: Duration = Duration::from_secs(6);
const LOADED_MAX: Duration = Duration::from_secs(12);
/// Idle phase of these tests.
const IDLE: Phase = Phase { kind: PhaseKind::Idle, min: Duration::from_secs(2), max: Duration::from_secs(4) };
/// Frames over payload for full-size packets with timestamps, as Ethernet interfaces count.
const FRAMES_OVER_GOODPUT: f64 = ETHERNET_PER_PAYLOAD;
/// Safety margin added to the measured overhead. Too little overhead fills the queue of the line;
/// too much costs only a tenth of its share in throughput.
const OVERHEAD_ERROR_BYTES: f64 = 3.0;
/// PPP is used on DSL, where 44 bytes cover all encapsulations (sqm-scripts) except for ATM cells.
const PPP_OVERHEAD_BYTES: u16 = 44;
/// Rate of the shaper planned to find conflicts. Any rate will do: the plan is not applied.
const PREFLIGHT_RATE: Rate = Rate::from_bits_per_second(10_000_000);

/// The current step. Each waits for the response to its action.
enum State {
    Preflight,
    Baseline,
    Overhead(OverheadProbe),
    PrepareSearch,
    ApplySearch,
    Recall(Direction),
    Search(Search),
    RollBackSearch,
    PrepareAttempt,
    ApplyAttempt,
    Verify(Verifier),
    Commit,
    RollBackAttempt,
    /// Something failed: end a running test, then roll back an active shaper.
    Fail(Failure),
    Ended,
}

/// The state machine of a fix. See the [module](super).
pub struct Fix {
    config: FixConfig,
    state: State,
    outputs: VecDeque<Output>,
    is_measuring: bool,
    is_applied: bool,
    is_stopped: bool,
    /// Result of the test without a shaper.
    before: Vec<LoadSummary>,
    shaped: PerDirection<bool>,
    /// Throughput of the line without a shaper.
    carried: PerDirection<Option<Rate>>,
    isolation: Isolation,
    attempt: usize,
    rates: PerDirection<Option<Rate>>,
    report: Report,
}

const fn loaded(kind: PhaseKind) -> Phase {
    Phase { kind, min: LOADED_MIN, max: LOADED_MAX }
}

/// The phase with a load in only this direction.
pub(super) const fn load(direction: Direction) -> PhaseKind {
    match direction {
        Direction::Up => PhaseKind::Up,
        Direction::Down => PhaseKind::Down,
    }
}

impl Fix {
    /// Creates a fix, which starts with [`Fix::poll_output`].
    #[must_use]
    pub fn new(config: FixConfig) -> Self {
        let isolation = config.isolation;
        let mut fix = Fix {
            config,
            state: State::Preflight,
            outputs: VecDeque::new(),
            is_measuring: false,
            is_applied: false,
            is_stopped: false,
            before: Vec::new(),
            shaped: PerDirection::default(),
            carried: PerDirection::default(),
            isolation,
            attempt: 0,
            rates: PerDirection::default(),
            report: Report::default(),
        };
        // Reports conflicts before a minute of load, and removes the remains of an earlier fix,
        // which would be mistaken for the line.
        fix.prepare(fix.config.directions.map(|is_wanted| is_wanted.then_some(PREFLIGHT_RATE)));
        fix
    }
    /// The next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    /// When to call [`Fix::handle_timeout`]; `None` if there is no deadline.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        match &self.state {
            State::Search(search) => search.next_read(),
            State::Verify(verifier) => verifier.next_read(),
            _ => None,
        }
    }
    /// Handles the deadline of [`Fix::poll_timeout`]. Earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_none_or(|at| now < at) {
            return;
        }
        match &mut self.state {
            State::Search(search) => {
                search.read_started(now);
                self.outputs.push_back(Output::Action(Action::ReadCounters));
            }
            State::Verify(verifier) => verifier.read_due(now, &mut self.outputs),
            _ => {}
        }
    }
    /// Results so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }
    /// Trials of the running search.
    #[must_use]
    pub const fn search(&self) -> Option<&Knee> {
        match &self.state {
            State::Search(search) => Some(search.knee()),
            _ => None,
        }
    }

    /// Handles an input.
    pub fn handle_input(&mut self, input: Input, now: Time) {
        match input {
            Input::Stop => self.stop(),
            Input::ShaperFailed => self.shaper_failed(),
            Input::Connected(_)
            | Input::PhaseStarted { .. }
            | Input::Observed { .. }
            | Input::PhaseEnded { .. }
            | Input::Counters(_) => self.observe(input, now),
            Input::Measured(summaries) => self.measured(Ok(summaries), now),
            Input::MeasurementIncomplete => self.measured(Err(Failure::Incomplete), now),
            Input::MeasurementFailed => self.measured(Err(Failure::Measurement), now),
            Input::Prepared(isolation) => self.prepared(isolation),
            Input::Applied => self.applied(),
            Input::Recalled(knee) => self.recalled(knee, now),
            Input::RolledBack => self.rolled_back(),
            Input::Committed => {
                self.is_applied = false;
                self.end(Ok(Outcome::Verified));
            }
        }
    }

    fn act(&mut self, action: Action) {
        self.outputs.push_back(Output::Action(action));
    }
    fn report_event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
    fn prepare(&mut self, rates: PerDirection<Option<Rate>>) {
        self.rates = rates;
        let overhead = self.report.overhead.map(|overhead| overhead.bytes);
        self.act(Action::Prepare { rates, overhead });
    }
    fn measure(&mut self, measurement: Measurement) {
        self.is_measuring = true;
        self.act(Action::Measure(measurement));
    }
    fn end(&mut self, result: Result<Outcome, Failure>) {
        self.state = State::Ended;
        self.outputs.push_back(Output::Ended(result));
    }

    fn stop(&mut self) {
        self.is_stopped = true;
        // Other actions end soon, so their response is awaited.
        if self.is_measuring {
            self.fail(Failure::Stopped);
        }
    }
    /// Ends the fix: first the test, then the shaper.
    fn fail(&mut self, failure: Failure) {
        if matches!(self.state, State::Ended | State::Fail(_)) {
            return;
        }
        self.state = State::Fail(failure);
        if self.is_measuring {
            self.act(Action::EndMeasurement);
        } else {
            self.restore(failure);
        }
    }
    fn restore(&mut self, failure: Failure) {
        if self.is_applied {
            self.act(Action::RollBack(RollBackReason::Failed));
        } else {
            self.end(Err(failure));
        }
    }
    fn shaper_failed(&mut self) {
        // After a failed action on the shaper, nothing is left to roll back.
        if !self.is_measuring {
            self.is_applied = false;
            self.end(Err(Failure::Shaper));
            return;
        }
        self.fail(Failure::Shaper);
    }
    /// Whether the user stopped the fix; starts the end in that case.
    fn is_ending(&mut self) -> bool {
        if self.is_stopped {
            self.fail(Failure::Stopped);
        }
        matches!(self.state, State::Fail(_) | State::Ended)
    }

    fn prepared(&mut self, isolation: Isolation) {
        if self.is_ending() {
            return;
        }
        match self.state {
            State::Preflight => {
                self.act(Action::Discard);
                self.state = State::Baseline;
                self.report_event(Event::Measuring(Purpose::Baseline));
                let phases = [IDLE, loaded(PhaseKind::Up), loaded(PhaseKind::Down)];
                self.measure(measurement(Purpose::Baseline, phases.to_vec()));
            }
            State::PrepareSearch => {
                self.isolation = isolation;
                self.state = State::ApplySearch;
                self.act(Action::Apply);
            }
            State::PrepareAttempt => {
                self.isolation = isolation;
                self.report_event(Event::AttemptPrepared(self.rates));
                if self.config.dry_run {
                    self.act(Action::Discard);
                    return self.end(Ok(Outcome::Planned));
                }
                self.state = State::ApplyAttempt;
                self.act(Action::Apply);
            }
            _ => {}
        }
    }
    fn applied(&mut self) {
        self.is_applied = true;
        if self.is_ending() {
            return;
        }
        match self.state {
            State::ApplySearch => self.search_next(None),
            State::ApplyAttempt => {
                self.report_event(Event::Measuring(Purpose::Verification));
                let Fix { config, isolation, rates, .. } = self;
                let claim = Claim { budget: config.budget, isolation: *isolation, rates: *rates };
                self.state = State::Verify(Verifier::new(claim));
                self.measure(Verifier::measurement(IDLE, loaded));
            }
            _ => {}
        }
    }
    fn rolled_back(&mut self) {
        self.is_applied = false;
        if matches!(self.state, State::RollBackAttempt) {
            self.report_event(Event::AttemptRolledBack);
        }
        if let State::Fail(failure) = self.state {
            return self.end(Err(failure));
        }
        if self.is_ending() {
            return;
        }
        match self.state {
            State::RollBackSearch => self.attempt(),
            State::RollBackAttempt => {
                self.attempt += 1;
                // Given rates are tried as they are, once.
                let is_searched = self.report.knees != PerDirection::default();
                if is_searched && self.attempt < KNEE_MARGINS.len() {
                    self.attempt();
                } else {
                    self.end(Ok(Outcome::NotVerified));
                }
            }
            _ => {}
        }
    }

    fn observe(&mut self, input: Input, now: Time) {
        let outputs = &mut self.outputs;
        match (&mut self.state, input) {
            (State::Overhead(probe), Input::Connected(version)) => probe.connected(version),
            (State::Overhead(probe), Input::PhaseStarted { kind, .. }) => probe.phase_started(kind),
            (State::Overhead(probe), Input::Observed { metric, direction, observation }) => {
                probe.observed(metric, direction, &observation);
            }
            (State::Overhead(probe), Input::PhaseEnded { .. }) => probe.phase_ended(),
            (State::Search(search), Input::PhaseStarted { kind, at }) => {
                search.phase_started(kind, at, now, outputs);
            }
            (State::Search(search), Input::Observed { metric, observation, .. }) => {
                search.observed(metric, &observation);
            }
            (State::Search(search), Input::PhaseEnded { is_complete, .. }) => {
                search.phase_ended(is_complete, outputs);
            }
            (State::Search(search), Input::Counters(counters)) => search.counters(&counters, now),
            (State::Verify(verifier), Input::PhaseStarted { .. }) => verifier.phase_started(now, outputs),
            (State::Verify(verifier), Input::PhaseEnded { kind, duration, .. }) => {
                verifier.phase_ended(kind, duration, now, outputs);
            }
            (State::Verify(verifier), Input::Counters(counters)) => verifier.counters(counters),
            _ => {}
        }
    }
    fn measured(&mut self, result: Result<Vec<LoadSummary>, Failure>, now: Time) {
        self.is_measuring = false;
        if let State::Fail(failure) = self.state {
            return self.restore(failure);
        }
        if self.is_ending() {
            return;
        }
        match (core::mem::replace(&mut self.state, State::Ended), result) {
            (State::Search(search), result) => self.search_ended(&search, result.err(), now),
            (_, Err(failure)) => {
                self.state = State::Baseline;
                self.fail(failure);
            }
            (State::Baseline, Ok(summaries)) => self.baseline(summaries),
            (State::Overhead(probe), Ok(_)) => self.overhead_measured(probe),
            (State::Verify(verifier), Ok(after)) => self.verified(&verifier, &after),
            (other, Ok(_)) => self.state = other,
        }
    }

    fn baseline(&mut self, summaries: Vec<LoadSummary>) {
        self.before = summaries;
        self.carried = PerDirection::from_fn(|direction| self.rate_before(direction));
        self.shaped = PerDirection::from_fn(|direction| self.is_to_be_shaped(direction));
        if self.shaped == PerDirection::default() && !self.config.force {
            return self.end(Ok(Outcome::NotNeeded));
        }
        if !self.config.measures_overhead {
            return self.prepare_search();
        }
        self.report_event(Event::Measuring(Purpose::Overhead));
        let direction = if self.shaped.up { Direction::Up } else { Direction::Down };
        self.measure_overhead(OverheadProbe::new(direction));
    }
    fn summary(&self, direction: Direction) -> Option<&LoadSummary> {
        self.before.iter().find(|summary| summary.kind == load(direction))
    }
    /// Throughput of a direction without a shaper, as frames.
    fn rate_before(&self, direction: Direction) -> Option<Rate> {
        let goodput = self.summary(direction)?.goodput_bits_per_second[direction]?;
        Some(Rate::from_bits_per_second((goodput * FRAMES_OVER_GOODPUT) as u64))
    }
    fn is_to_be_shaped(&self, direction: Direction) -> bool {
        let increase = self.summary(direction).and_then(|summary| summary.increase_s);
        let increase_s = increase.map_or(0.0, |increase| increase.value);
        let is_bloated = self.carried[direction].is_some_and(|rate| {
            increase_s > self.config.budget.at(self.config.isolation, rate).as_secs_f64()
        });
        self.config.directions[direction]
            && (is_bloated || self.config.force || self.config.rates[direction].is_some())
    }

    fn measure_overhead(&mut self, probe: OverheadProbe) {
        match probe.measurement() {
            Some(measurement) => {
                self.state = State::Overhead(probe);
                self.measure(measurement);
            }
            None => {
                let measured = probe.bytes().map(|bytes| MeasuredOverhead {
                    bytes: (bytes + OVERHEAD_ERROR_BYTES + 0.5) as u16,
                    source: OverheadSource::PacketSizes,
                });
                let by_type = (self.config.link == LinkType::Ppp).then_some(MeasuredOverhead {
                    bytes: PPP_OVERHEAD_BYTES,
                    source: OverheadSource::LinkType,
                });
                self.report.overhead = measured.or(by_type);
                self.report_event(Event::Overhead(self.report.overhead));
                self.prepare_search();
            }
        }
    }
    fn overhead_measured(&mut self, mut probe: OverheadProbe) {
        probe.ended();
        self.measure_overhead(probe);
    }

    fn is_searched(&self, direction: Direction) -> bool {
        self.shaped[direction] && self.config.rates[direction].is_none() && self.carried[direction].is_some()
    }
    /// Rate of a direction's shaper at the start of the searches.
    fn start_rate(&self, direction: Direction) -> Option<Rate> {
        let rate = self.config.rates[direction].or(self.carried[direction]);
        rate.filter(|_| self.shaped[direction])
    }
    fn prepare_search(&mut self) {
        if !Direction::BOTH.into_iter().any(|direction| self.is_searched(direction)) {
            return self.attempt();
        }
        self.state = State::PrepareSearch;
        self.prepare(PerDirection::from_fn(|direction| self.start_rate(direction)));
    }
    /// Starts the first search, or the one after `done`.
    fn search_next(&mut self, done: Option<Direction>) {
        let after = done.map_or(0, |direction| direction.index() + 1);
        let next = Direction::BOTH.into_iter().skip(after).find(|direction| self.is_searched(*direction));
        if let Some(direction) = next {
            self.state = State::Recall(direction);
            self.act(Action::RecallTrials(direction));
        } else {
            self.state = State::RollBackSearch;
            self.act(Action::RollBack(RollBackReason::SearchEnded));
        }
    }
    fn recalled(&mut self, knee: Option<Knee>, now: Time) {
        if self.is_ending() {
            return;
        }
        let State::Recall(direction) = self.state else { return };
        let knee = knee.unwrap_or_else(|| Knee::new(self.carried[direction].unwrap_or_default()));
        self.report_event(Event::SearchStarted { direction, reused_trials: knee.trials().len() });
        let config = SearchConfig {
            direction,
            budget: self.config.budget,
            isolation: self.isolation,
            other: self.start_rate(direction.reverse()),
        };
        let search = Search::new(config, knee, now);
        let measurement = search.measurement();
        self.state = State::Search(search);
        self.measure(measurement);
    }
    fn search_ended(&mut self, search: &Search, failure: Option<Failure>, now: Time) {
        let direction = search.direction();
        let result = match (search.result(), failure) {
            (Some(result), _) => result,
            (None, Some(failure)) => {
                self.state = State::Recall(direction);
                return self.fail(failure);
            }
            (None, None) => search.last_result(),
        };
        self.report.trials[direction] = search.knee().trials().to_vec();
        self.report.search_time[direction] = now.saturating_since(search.begun());
        match result {
            Ok(knee) => {
                if !self.config.dry_run {
                    self.act(Action::ForgetTrials(direction));
                }
                self.report.knees[direction] = Some(knee);
                self.report_event(Event::KneeFound { direction, knee });
                self.search_next(Some(direction));
            }
            Err(no_knee) => {
                self.state = State::Recall(direction);
                self.fail_search(direction, no_knee);
            }
        }
    }

    fn fail_search(&mut self, direction: Direction, no_knee: NoKnee) {
        match no_knee {
            NoKnee::OutOfTrials => self.fail(Failure::OutOfTrials(direction)),
            NoKnee::Line(failure) => {
                self.act(Action::ForgetTrials(direction));
                self.fail(Failure::NoKnee(direction, failure));
            }
        }
    }

    /// Starts the next attempt: the shaper at a margin below the knees, or at the given rates.
    fn attempt(&mut self) {
        let margin = KNEE_MARGINS[self.attempt];
        let rates = PerDirection::from_fn(|direction| match self.report.knees[direction] {
            Some(knee) => Some(share(knee.rate, margin[direction])),
            None => self.config.rates[direction].filter(|_| self.shaped[direction]),
        });
        self.state = State::PrepareAttempt;
        self.prepare(rates);
    }
    fn verified(&mut self, verifier: &Verifier, after: &[LoadSummary]) {
        let checks = verifier.verify(&self.before, after);
        let passed = checks.iter().all(|check| check.passed);
        self.report.checks = checks.clone();
        self.report_event(Event::Verified(checks));
        if passed {
            self.state = State::Commit;
            self.act(Action::Commit);
        } else {
            self.state = State::RollBackAttempt;
            self.act(Action::RollBack(RollBackReason::NotVerified));
        }
    }
}

/// A share of a rate, rounded down to four digits for readability.
fn share(rate: Rate, ratio: f64) -> Rate {
    let bits = (rate.as_bits_per_second() as f64 * ratio) as u64;
    let unit = 10_u64.pow(bits.max(1).ilog10().saturating_sub(3));
    Rate::from_bits_per_second(bits / unit * unit)
}
