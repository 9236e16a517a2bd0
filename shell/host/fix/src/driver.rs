//! Performs the actions of the state machine on a real interface and tests against a real server.
use crate::config::{FixConfig, FixError, Fixed, Progress};
use crate::input;
use crate::recording::Recording;
use crate::trials::TrialFile;
use fathom_client::{Event as TestEvent, PhasePlan, ProbeKind, TestConfig, run_test};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::cpu::packet_times;
use fathom_run::threshold::shaper_round_trip_s;
use fathom_run::{PhaseKind, Run};
use fathom_shape::fix::{
    Action, Counters, Event, Failure, Fix, Input, Isolation, LinkType, Measurement, Outcome, Output,
    ProcessorTime, Purpose, RollBackReason,
};
use fathom_shaper::{ApplyError, Framing, Kernel, Plan, ShapeRequest, Transaction};
use fathom_units::{Direction, Duration, PerDirection, Rate};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watchdog limit. A search of both directions takes at most two minutes and a verification one, so
/// after this time the process is considered stuck.
const WATCHDOG_LIMIT: std::time::Duration = std::time::Duration::from_secs(300);
/// Link type of PPP. Source: linux/if_arp.h.
const PPP: u16 = 512;

/// Measures, searches, shapes and verifies. `watchdog` creates the command of the process that
/// restores the interface if this one dies. `stop` ends the fix at any time and restores the
/// interface.
///
/// # Errors
/// Why it failed. The interface has been restored, unless the error says that this failed.
pub fn fix(
    config: &FixConfig,
    watchdog: &dyn Fn() -> Command,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Progress<'_>),
) -> Result<Fixed, FixError> {
    let machine = Fix::new(machine_config(config));
    let driver = Driver {
        config,
        watchdog,
        stop,
        report,
        machine,
        framing: config.framing,
        idle_round_trip: None,
        transaction: None,
        recording: None,
        before: None,
        after: None,
        plan: None,
        shaper_error: None,
        test_error: None,
    };
    driver.run()
}

fn machine_config(config: &FixConfig) -> fathom_shape::fix::FixConfig {
    fathom_shape::fix::FixConfig {
        directions: config.directions,
        rates: config.rates,
        budget: config.budget,
        isolation: config.shaper.map_or(Isolation::PerFlow, fathom_shaper::ShaperKind::isolation),
        measures_overhead: config.framing.overhead.is_none() && !config.framing.atm,
        link: link_type(&config.place.device),
        force: config.force,
        dry_run: config.dry_run,
    }
}

/// The link type of an interface. If it cannot be read, the preflight reports that.
fn link_type(device: &str) -> LinkType {
    let link = Kernel::open().and_then(|mut kernel| kernel.link(device)).ok().flatten();
    if link.is_some_and(|link| link.link_layer == PPP) { LinkType::Ppp } else { LinkType::Other }
}

struct Driver<'a> {
    config: &'a FixConfig,
    watchdog: &'a dyn Fn() -> Command,
    stop: &'a AtomicBool,
    report: &'a mut dyn FnMut(Progress<'_>),
    machine: Fix,
    framing: Framing,
    /// The same from the test without a shaper.
    idle_round_trip: Option<Duration>,
    transaction: Option<Transaction>,
    /// Counters of a running verification.
    recording: Option<Recording>,
    before: Option<Run>,
    after: Option<Run>,
    plan: Option<Plan>,
    /// Error of the last action on the shaper.
    shaper_error: Option<ApplyError>,
    /// Error or early end of the last test.
    test_error: Option<FixError>,
}

impl Driver<'_> {
    fn run(mut self) -> Result<Fixed, FixError> {
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Ended(result) => return self.finish(result),
                Output::Event(event) => self.event(event),
                Output::Action(action) => {
                    if self.stop.load(Ordering::Relaxed) {
                        self.input(Input::Stop);
                    }
                    self.perform(action);
                }
            }
        }
        Err(FixError::Incomplete("the fix ended without an outcome".to_owned()))
    }
    fn finish(self, result: Result<Outcome, Failure>) -> Result<Fixed, FixError> {
        let Driver { machine, framing, before, after, plan, shaper_error, test_error, .. } = self;
        let unknown = || FixError::Incomplete("unknown reason".to_owned());
        let outcome = result.map_err(|failure| match failure {
            Failure::Shaper => shaper_error.map_or_else(unknown, FixError::Apply),
            Failure::Measurement | Failure::Incomplete => test_error.unwrap_or_else(unknown),
            Failure::NoKnee(direction, failure) => FixError::NoKnee(direction, failure),
            Failure::OutOfTrials(direction) => FixError::OutOfTrials(direction),
            Failure::Stopped => FixError::Stopped,
        })?;
        let report = machine.report().clone();
        Ok(Fixed { outcome, before: before.ok_or_else(unknown)?, after, plan, framing, report })
    }
    fn input(&mut self, input: Input) {
        self.machine.handle_input(input, self.config.test.clock.now());
    }
    fn event(&mut self, event: Event) {
        if let (Event::AttemptPrepared(_), Some(transaction)) = (&event, &self.transaction) {
            (self.report)(Progress::Plan(transaction.plan()));
            self.plan = Some(transaction.plan().clone());
        }
        (self.report)(Progress::Step(event));
    }
    fn perform(&mut self, action: Action) {
        match action {
            Action::Prepare { rates, overhead } => {
                let result = self.prepare(rates, overhead);
                self.answer(result, Input::Prepared);
            }
            Action::Discard => self.transaction = None,
            Action::Apply => {
                let command = (self.watchdog)();
                let result = self.on_shaper(|shaper| shaper.apply(command, WATCHDOG_LIMIT));
                self.answer(result, |()| Input::Applied);
            }
            Action::SetRates(rates) => {
                if let Err(error) = self.on_shaper(|shaper| shaper.set_rates(rates.up, rates.down)) {
                    self.shaper_failed(error);
                }
            }
            Action::ReadCounters => {
                let result = self.counters();
                self.answer(result, Input::Counters);
            }
            Action::RollBack(reason) => {
                let result = self.transaction.take().map(|shaper| shaper.roll_back(words(reason)));
                self.answer(result.transpose(), |_| Input::RolledBack);
            }
            Action::Commit => {
                let result = self.transaction.take().map(Transaction::commit);
                self.answer(result.transpose(), |_| Input::Committed);
            }
            Action::Measure(measurement) => self.measure(&measurement),
            // The test has already ended.
            Action::EndMeasurement => {}
            Action::RecallTrials(direction) => {
                let knee = self.trial_file(direction).recall();
                self.input(Input::Recalled(knee));
            }
            Action::StoreTrials(direction) => {
                let file = self.trial_file(direction);
                self.machine.search().into_iter().for_each(|knee| file.store(knee));
            }
            Action::ForgetTrials(direction) => self.trial_file(direction).delete(),
        }
    }
    fn answer<T>(&mut self, result: Result<T, ApplyError>, input: impl FnOnce(T) -> Input) {
        match result {
            Ok(value) => self.input(input(value)),
            Err(error) => self.shaper_failed(error),
        }
    }
    fn shaper_failed(&mut self, error: ApplyError) {
        self.shaper_error = Some(error);
        self.input(Input::ShaperFailed);
    }
    fn on_shaper<T: Default>(
        &mut self,
        act: impl FnOnce(&mut Transaction) -> Result<T, ApplyError>,
    ) -> Result<T, ApplyError> {
        self.transaction.as_mut().map_or_else(|| Ok(T::default()), act)
    }
    fn prepare(
        &mut self,
        rates: PerDirection<Option<Rate>>,
        overhead: Option<u16>,
    ) -> Result<Isolation, ApplyError> {
        // Releases its lock.
        self.transaction = None;
        self.framing.overhead = overhead.or(self.config.framing.overhead);
        let request = ShapeRequest {
            device: self.config.place.device.clone(),
            up: rates.up,
            down: rates.down,
            shaper: self.config.shaper,
            framing: self.framing,
            round_trip: self.config.round_trip.or(self.idle_round_trip),
        };
        let transaction = Transaction::begin(&request, &self.config.place)?;
        transaction.recovered().into_iter().for_each(|words| (self.report)(Progress::Recovered(words)));
        let isolation = transaction.plan().kind.isolation();
        self.transaction = Some(transaction);
        Ok(isolation)
    }
    fn counters(&mut self) -> Result<Counters, ApplyError> {
        let Some(transaction) = &mut self.transaction else { return Ok(Counters::default()) };
        let look = transaction.look()?;
        let now = self.config.test.clock.now();
        self.recording.iter_mut().for_each(|recording| recording.note(now, &look));
        let time =
            |time: &fathom_os::cpu::PacketTimes| ProcessorTime { packets: time.packets, total: time.total };
        let processors = packet_times().unwrap_or_default().iter().map(time).collect();
        Ok(Counters { processors, ..look.counters() })
    }
    fn trial_file(&self, direction: Direction) -> TrialFile {
        let shaper = self.transaction.as_ref().map_or("", |transaction| transaction.plan().kind.name());
        TrialFile::new(&self.config.place, direction, &self.config.test.server, shaper)
    }

    fn measure(&mut self, measurement: &Measurement) {
        let config = test_config(&self.config.test, measurement);
        self.recording = (measurement.purpose == Purpose::Verification).then(Recording::default);
        let is_enough = AtomicBool::new(false);
        let result = run_test(&config, &is_enough, &mut |event| self.test_event(event, &is_enough));
        let recording = self.recording.take();
        match result {
            Ok(Run { partial: Some(why), .. }) => {
                self.test_error = Some(FixError::Incomplete(fathom_prose::interruption(&why)));
                self.input(Input::MeasurementIncomplete);
            }
            Ok(run) => self.measured(measurement.purpose, run, recording),
            Err(error) => {
                self.test_error = Some(FixError::Test(error));
                self.input(Input::MeasurementFailed);
            }
        }
    }
    fn measured(&mut self, purpose: Purpose, mut run: Run, recording: Option<Recording>) {
        let input = match purpose {
            Purpose::Baseline | Purpose::Verification => {
                run.series.extend(recording.iter().flat_map(Recording::series));
                let diagnosis = diagnose(&run);
                if purpose == Purpose::Baseline {
                    (self.report)(Progress::Baseline(&diagnosis));
                    self.idle_round_trip = idle_round_trip(&diagnosis);
                    self.before = Some(run);
                } else {
                    self.after = Some(run);
                }
                input::of_diagnosis(&diagnosis)
            }
            Purpose::Overhead | Purpose::Search(_) => Input::Measured(Vec::new()),
        };
        self.input(input);
    }
    /// Passes an event of the running test to the machine, which may act or end the test.
    fn test_event(&mut self, event: TestEvent, is_enough: &AtomicBool) {
        if self.stop.load(Ordering::Relaxed) {
            self.input(Input::Stop);
        }
        if let Some(input) = input::of_event(&event) {
            self.input(input);
        }
        self.machine.handle_timeout(self.config.test.clock.now());
        (self.report)(Progress::Test(event));
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Action(Action::EndMeasurement) => is_enough.store(true, Ordering::Relaxed),
                Output::Action(action) => self.perform(action),
                Output::Event(step) => self.event(step),
                // Cannot occur before the test has ended.
                Output::Ended(_) => {}
            }
        }
    }
}

fn test_config(base: &TestConfig, measurement: &Measurement) -> TestConfig {
    let probes = match measurement.purpose {
        Purpose::Overhead => vec![ProbeKind::Udp],
        Purpose::Baseline | Purpose::Search(_) | Purpose::Verification => {
            vec![ProbeKind::Udp, ProbeKind::Icmp]
        }
    };
    let phases = measurement.phases.iter();
    TestConfig {
        phases: phases.map(|phase| PhasePlan { kind: phase.kind, min: phase.min, max: phase.max }).collect(),
        sample_every: measurement.probe_interval,
        segment_bytes: measurement.segment_bytes,
        probes,
        ..base.clone()
    }
}

/// The round-trip time to configure, if the idle latency exceeds what shapers assume.
fn idle_round_trip(diagnosis: &Diagnosis) -> Option<Duration> {
    let idle = diagnosis.phase(PhaseKind::Idle)?.latency?;
    let seconds = shaper_round_trip_s(idle.p50.value)?;
    Some(Duration::from_millis((seconds * 1e3) as u64))
}

const fn words(reason: RollBackReason) -> &'static str {
    match reason {
        RollBackReason::SearchEnded => "the search has ended",
        RollBackReason::NotVerified => "a check failed",
        RollBackReason::Failed => "the fix failed or was stopped",
    }
}
