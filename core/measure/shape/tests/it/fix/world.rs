//! A driver of the state machine with a simulated line: every action is performed in virtual time.
use fathom_run::{Metric, Observation, PhaseKind, Value};
use fathom_shape::fix::Budget;
use fathom_shape::fix::{
    Action, Counters, Event, Failure, Fix, FixConfig, Input, InterfaceCounters, IpVersion, Isolation,
    LinkType, LoadSummary, Measurement, Outcome, Output, Phase, Report, ShaperCounters,
};
use fathom_shape::knee::Knee;
use fathom_sim::{Answer, Session, ShaperConfig};
use fathom_stats::Bounded;
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rate, Time};

/// Number of TCP flows of a load, as in a test.
const FLOWS: u32 = 4;
const GOODPUT_EVERY: Duration = Duration::from_millis(100);
/// Maximum time to wait for an empty queue between two loads, as in a test.
const DRAIN: Duration = Duration::from_secs(5);
/// Below this added delay a queue counts as empty.
const EMPTY: Duration = Duration::from_millis(3);
/// Bytes of the timestamp option in a segment.
const OPTIONS: u16 = 12;
/// Header bytes that the shaper counts if no overhead is given.
const HEADER: u16 = 14;
const FULL_FRAME: u64 = 1514;

pub(crate) fn mbit(mbit: f64) -> Rate {
    Rate::from_bits_per_second((mbit * 1e6) as u64)
}

#[derive(Clone, Debug)]
pub(crate) struct Side(pub(crate) String);

impl Side {
    /// A modem with a tail-drop queue, 38 bytes of overhead and 5 ms of propagation delay.
    pub(crate) fn modem(mbit: f64, queue_ms: f64) -> Side {
        let limit = (mbit * 1e3 / 8.0 * queue_ms) as u64;
        Side(format!(
            "rate = \"{}bit\", queue = \"fifo limit {limit}b\", overhead = \"38b\", delay = \"5ms\"",
            (mbit * 1e6) as u64
        ))
    }
}

impl Side {
    pub(crate) fn with_delay(&self, ms: f64) -> Side {
        Side(self.0.replace("delay = \"5ms\"", &format!("delay = \"{ms:.3}ms\"")))
    }
}

pub(crate) fn session(sides: &PerDirection<Side>, trace: &str, seed: u64) -> Session {
    let text = format!(
        "name = \"modem\"\nabout = \"test\"\nsource = \"test\"\n[[hop]]\nname = \"modem\"\nup = {{ {} }}\ndown = {{ {} }}\n",
        sides.up.0, sides.down.0
    );
    let plan = fathom_scenario::parse_with_files(&text, "modem.toml", &|_| Ok(trace.to_owned()))
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    Session::new(&plan, seed)
}

/// The modem of the real tests: 10 and 40 Mbit/s with buffers of 205 and 200 ms.
pub(crate) fn usual() -> PerDirection<Side> {
    PerDirection { up: Side::modem(10.0, 204.8), down: Side::modem(40.0, 200.0) }
}

pub(crate) fn config() -> FixConfig {
    FixConfig {
        directions: PerDirection { up: true, down: true },
        rates: PerDirection::default(),
        budget: Budget::new(None),
        isolation: Isolation::PerFlow,
        measures_overhead: true,
        link: LinkType::Other,
        force: false,
        dry_run: false,
    }
}

/// The queue of tbf: 15 ms, and at least five packets.
fn one_queue(rate: Rate) -> String {
    let bytes = rate.bytes_in(Duration::from_millis(15)).get().max(5 * FULL_FRAME);
    format!("fifo limit {bytes}b")
}

pub(crate) fn shaper_counters(session: &Session, direction: Direction) -> Option<ShaperCounters> {
    let stats = session.shaper_stats(direction)?;
    Some(ShaperCounters {
        sent_bytes: stats.sent_bytes,
        sent_packets: stats.sent_packets,
        dropped_packets: stats.dropped_packets,
        marked_packets: stats.marked_packets,
        overlimits: stats.delayed_packets,
        backlog_bytes: stats.backlog_bytes,
    })
}

/// A simulated fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Fault {
    Nothing,
    /// The action with this number, from 0, fails if it is on the shaper.
    Shaper(usize),
    /// The test with this number fails.
    Measurement(usize),
    /// The test with this number ends after this time of its second phase.
    Incomplete(usize, Duration),
    /// The user stops the fix before the action with this number.
    Stop(usize),
    /// The user stops the fix one second into the trial with this number, from 0.
    StopInTrial(usize),
}

/// A state machine, its line, and a log of events.
pub(crate) struct World {
    pub(crate) session: Session,
    pub(crate) fix: Fix,
    /// The queue discipline of a shaper with this rate, as text.
    pub(crate) queue: fn(Rate) -> String,
    pub(crate) isolation: Isolation,
    /// Ingress traffic bypasses the shaper.
    pub(crate) is_bypassed: bool,
    pub(crate) fault: Fault,
    pub(crate) stored: PerDirection<Option<Knee>>,
    pub(crate) events: Vec<Event>,
    pub(crate) actions: Vec<Action>,
    pub(crate) is_shaped: bool,
    /// Summaries of all tests, in order.
    pub(crate) summaries: Vec<Vec<LoadSummary>>,
    prepared: Option<(PerDirection<Option<Rate>>, u16)>,
    measurements: usize,
    trials: usize,
    result: Option<Result<Outcome, Failure>>,
}

impl World {
    pub(crate) fn new(session: Session, config: FixConfig) -> Self {
        let isolation = config.isolation;
        World {
            session,
            fix: Fix::new(config),
            queue: if isolation == Isolation::PerFlow { |_| "fq_codel".to_owned() } else { one_queue },
            isolation,
            is_bypassed: false,
            fault: Fault::Nothing,
            stored: PerDirection::default(),
            events: Vec::new(),
            actions: Vec::new(),
            is_shaped: false,
            summaries: Vec::new(),
            prepared: None,
            measurements: 0,
            trials: 0,
            result: None,
        }
    }
    /// Another fix of the same line.
    pub(crate) fn again(&mut self, config: FixConfig) {
        self.fix = Fix::new(config);
        self.fault = Fault::Nothing;
        self.events.clear();
        self.actions.clear();
        self.summaries.clear();
        (self.measurements, self.trials, self.result) = (0, 0, None);
    }
    pub(crate) fn run(&mut self) -> Result<Outcome, Failure> {
        while self.result.is_none() {
            let output = self.fix.poll_output().expect("the machine waits for nothing");
            self.output(output);
        }
        assert_eq!(self.fix.poll_output(), None);
        self.result.unwrap()
    }
    pub(crate) fn report(&self) -> &Report {
        self.fix.report()
    }
    /// The log, one line per event.
    pub(crate) fn story(&self) -> String {
        let line = |event: &Event| match event {
            Event::TrialEnded { direction, trial } => {
                let (offered, delivered, delay) = (trial.offered, trial.delivered, trial.delay);
                let flags = (trial.is_delayed, trial.is_marginal, trial.is_demanded);
                format!("trial {direction} {offered}, delivered {delivered}, {delay}, {flags:?}\n")
            }
            Event::Verified(checks) => checks.iter().map(|check| format!("  {check:?}\n")).collect(),
            other => format!("{other:?}\n"),
        };
        self.events.iter().map(line).collect()
    }
    fn input(&mut self, input: Input) {
        self.fix.handle_input(input, self.session.now());
    }
    fn output(&mut self, output: Output) {
        match output {
            Output::Event(event) => {
                if matches!(event, Event::TrialStarted { .. }) {
                    self.trials += 1;
                }
                self.events.push(event);
            }
            Output::Ended(result) => self.result = Some(result),
            Output::Action(action) => {
                let number = self.actions.len();
                self.actions.push(action.clone());
                if self.fault == Fault::Stop(number) {
                    self.input(Input::Stop);
                }
                if self.fault == Fault::Shaper(number) && is_on_shaper(&action) {
                    // A shaper that cannot be kept is rolled back.
                    if action == Action::Commit {
                        self.restore();
                    }
                    return self.input(Input::ShaperFailed);
                }
                self.perform(action);
            }
        }
    }
    fn perform(&mut self, action: Action) {
        match action {
            Action::Prepare { rates, overhead } => {
                self.prepared = Some((rates, overhead.unwrap_or(HEADER)));
                self.input(Input::Prepared(self.isolation));
            }
            Action::Discard => self.prepared = None,
            Action::Apply => self.apply(),
            Action::SetRates(rates) => {
                for (direction, rate) in rates {
                    rate.iter().for_each(|rate| self.session.set_rate(direction, *rate));
                }
            }
            Action::ReadCounters => {
                let counters = self.counters();
                self.input(Input::Counters(counters));
            }
            Action::RollBack(_) => {
                assert!(self.is_shaped, "nothing to roll back");
                self.restore();
                self.input(Input::RolledBack);
            }
            Action::Commit => self.input(Input::Committed),
            Action::Measure(measurement) => self.measure(&measurement),
            Action::EndMeasurement => panic!("no test is running"),
            Action::RecallTrials(direction) => {
                let knee = self.stored[direction].clone();
                self.input(Input::Recalled(knee));
            }
            Action::StoreTrials(direction) => self.stored[direction] = self.fix.search().cloned(),
            Action::ForgetTrials(direction) => self.stored[direction] = None,
        }
    }
    fn apply(&mut self) {
        let (rates, overhead) = self.prepared.take().expect("applied without a plan");
        for (direction, rate) in rates {
            let shaper = rate.map(|rate| ShaperConfig {
                rate,
                overhead: Bytes(u64::from(overhead)),
                queue: (self.queue)(rate).parse().unwrap(),
            });
            self.session.shape(direction, shaper.as_ref());
        }
        self.session.bypass(Direction::Down, self.is_bypassed);
        self.is_shaped = true;
        self.input(Input::Applied);
    }
    fn restore(&mut self) {
        Direction::BOTH.into_iter().for_each(|direction| self.session.shape(direction, None));
        self.is_shaped = false;
    }
    fn counters(&self) -> Counters {
        let shapers = PerDirection::from_fn(|direction| shaper_counters(&self.session, direction));
        let bytes = PerDirection::from_fn(|direction| self.session.interface_bytes(direction));
        Counters {
            interface: InterfaceCounters { bytes, full_frame_bytes: FULL_FRAME },
            shapers,
            ..Counters::default()
        }
    }

    fn measure(&mut self, measurement: &Measurement) {
        let number = self.measurements;
        self.measurements += 1;
        if self.fault == Fault::Measurement(number) {
            return self.input(Input::MeasurementFailed);
        }
        self.session.probe(Some(measurement.probe_interval));
        self.input(Input::Connected(IpVersion::V4));
        let mut test = Test { measurement, number, idle: None, is_loaded: false, summaries: Vec::new() };
        let is_complete =
            measurement.phases.iter().enumerate().all(|(n, phase)| self.phase(&mut test, n, phase));
        self.session.probe(None);
        let summaries = test.summaries;
        self.summaries.push(summaries.clone());
        self.input(if is_complete { Input::Measured(summaries) } else { Input::MeasurementIncomplete });
    }
    /// Runs a phase; false if the test ended in it.
    fn phase(&mut self, test: &mut Test<'_>, number: usize, phase: &Phase) -> bool {
        let is_load = phase.kind != PhaseKind::Idle;
        if is_load && test.is_loaded && !self.drain(test) {
            return false;
        }
        test.is_loaded |= is_load;
        let start = self.session.now();
        self.input(Input::PhaseStarted { kind: phase.kind, at: start });
        if self.drain_outputs() {
            return false;
        }
        let segment = test.measurement.segment_bytes.map(|bytes| bytes - OPTIONS);
        for direction in phase.kind.loads() {
            self.session.start_flows(*direction, FLOWS, segment);
        }
        let mut seen = Seen { start, answers: Vec::new(), goodput: PerDirection::default() };
        let end = start + phase.min;
        let limit = match self.fault {
            Fault::Incomplete(test_number, after) if test_number == test.number && number == 1 => {
                start + after
            }
            Fault::StopInTrial(trial) if self.trials == trial + 1 => start + Duration::from_secs(1),
            _ => Time::MAX,
        };
        let is_complete = self.pass(&mut seen, end.min(limit)) && limit >= end;
        if !is_complete && matches!(self.fault, Fault::StopInTrial(_)) {
            self.fault = Fault::Nothing;
            self.input(Input::Stop);
        }
        self.session.stop_flows();
        let duration = self.session.now() - start;
        self.input(Input::PhaseEnded { kind: phase.kind, duration, is_complete });
        test.summaries.push(seen.summary(phase.kind, &mut test.idle));
        !self.drain_outputs() && is_complete
    }
    /// Waits until probes indicate an empty queue.
    fn drain(&mut self, test: &Test<'_>) -> bool {
        let idle_s = test.idle.unwrap_or_default();
        let begun = self.session.now();
        let mut seen = Seen { start: begun, answers: Vec::new(), goodput: PerDirection::default() };
        while self.session.now() - begun < DRAIN {
            if !self.pass(&mut seen, self.session.now() + Duration::from_millis(50)) {
                return false;
            }
            let last: Vec<f64> =
                seen.answers.iter().rev().take(4).map(|a| a.round_trip().as_secs_f64()).collect();
            if last.len() == 4 && last.iter().all(|s| *s < idle_s + EMPTY.as_secs_f64()) {
                break;
            }
        }
        true
    }
    /// Advances to `end`, reporting like a test. False if the state machine ended the test.
    fn pass(&mut self, seen: &mut Seen, end: Time) -> bool {
        let mut next_goodput = self.session.now() + GOODPUT_EVERY;
        let mut delivered = self.delivered();
        while self.session.now() < end {
            let timeout = self.fix.poll_timeout().unwrap_or(Time::MAX);
            let step = self.session.now() + Duration::from_millis(10);
            self.session.run_until(end.min(next_goodput).min(timeout.max(self.session.now())).min(step));
            for answer in self.session.take_answers() {
                seen.answers.push(answer);
                let value = Value::Observed(answer.round_trip().as_secs_f64());
                let observation = Observation { at: answer.sent, value };
                self.input(Input::Observed { metric: Metric::UdpRtt, direction: None, observation });
            }
            if self.session.now() >= next_goodput {
                next_goodput += GOODPUT_EVERY;
                let now = self.delivered();
                for (direction, bytes) in now {
                    let rate = (bytes - delivered[direction]) as f64 * 8.0 / GOODPUT_EVERY.as_secs_f64();
                    seen.goodput[direction].push(rate);
                    let observation = Observation { at: self.session.now(), value: Value::Observed(rate) };
                    let direction = Some(direction);
                    self.input(Input::Observed { metric: Metric::Goodput, direction, observation });
                }
                delivered = now;
            }
            self.fix.handle_timeout(self.session.now());
            if self.drain_outputs() {
                return false;
            }
        }
        true
    }
    fn delivered(&self) -> PerDirection<u64> {
        PerDirection::from_fn(|direction| self.session.delivered(direction).get())
    }
    /// Performs the actions requested during a test. True if it is to end.
    fn drain_outputs(&mut self) -> bool {
        let mut is_ended = false;
        while let Some(output) = self.fix.poll_output() {
            if output == Output::Action(Action::EndMeasurement) {
                if self.fault == Fault::Stop(self.actions.len()) {
                    self.input(Input::Stop);
                }
                self.actions.push(Action::EndMeasurement);
                is_ended = true;
            } else {
                self.output(output);
            }
        }
        is_ended
    }
}

pub(crate) fn is_on_shaper(action: &Action) -> bool {
    matches!(
        action,
        Action::Prepare { .. }
            | Action::Apply
            | Action::SetRates(_)
            | Action::ReadCounters
            | Action::RollBack(_)
            | Action::Commit
    )
}

struct Test<'a> {
    measurement: &'a Measurement,
    number: usize,
    /// Median round-trip time of the idle phase, in s.
    idle: Option<f64>,
    is_loaded: bool,
    summaries: Vec<LoadSummary>,
}

/// Observations in a phase.
struct Seen {
    start: Time,
    answers: Vec<Answer>,
    goodput: PerDirection<Vec<f64>>,
}

impl Seen {
    /// Summary like that of a diagnosis: goodput after the first quarter.
    fn summary(&self, kind: PhaseKind, idle: &mut Option<f64>) -> LoadSummary {
        let of_phase = self.answers.iter().filter(|answer| answer.sent >= self.start);
        let median = median(of_phase.map(|answer| answer.round_trip().as_secs_f64()).collect());
        if kind == PhaseKind::Idle {
            *idle = median;
        }
        let increase =
            median.zip(*idle).map(|(loaded, idle)| Bounded { value: loaded - idle, at_least: false });
        let goodput = PerDirection::from_fn(|direction| {
            let values = &self.goodput[direction];
            let late = &values[values.len() / 4..];
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            kind.loads().contains(&direction).then_some(mean)
        });
        LoadSummary { kind, increase_s: increase, goodput_bits_per_second: goodput }
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
