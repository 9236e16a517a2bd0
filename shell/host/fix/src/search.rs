//! The knee of one direction, on the live line: load behind the shaper, at one rate after the other.
use crate::budget::Budget;
use crate::watch::Watch;
use fathom_client::{Event, PhasePlan, ProbeKind, TestConfig, TestError, run_test};
use fathom_run::{Metric, Observation, PhaseEnd, PhaseKind, Value};
use fathom_shape::knee::{Failure, Found, Knee, Step, Trial};
use fathom_shaper::Transaction;
use fathom_stats::Sample;
use fathom_units::{Direction, Duration, Rate, Time};
use std::sync::atomic::{AtomicBool, Ordering};

/// A trial: half for slow start and for what the line had left of a burst, half to look at. A hundredth too much has filled 20 ms of queue
/// in the middle of that half.
const TRIAL: Duration = Duration::from_secs(4);
const IDLE: Duration = Duration::from_secs(2);
/// No trial begins later: a search takes a minute at most.
const LONGEST: Duration = Duration::from_secs(55);
/// Trials at most; the search ends before.
const TRIALS: usize = 13;
/// Interval of the shaper's counters.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const SAMPLE_EVERY: Duration = Duration::from_millis(20);
/// The other direction carries acknowledgements alone, and is not to be what limits.
const OTHER_TIMES: u64 = 2;
/// A load that fills less than this share of the shaper leaves it idle.
const DEMAND_RATIO: f64 = 0.9;

/// Less than so many times what is allowed may be chance.
const MARGINAL_TIMES: u64 = 3;

/// What a search is about.
pub(crate) struct Search<'a> {
    pub(crate) direction: Direction,
    pub(crate) budget: Budget,
    /// What the other direction carries, if it is shaped.
    pub(crate) other: Option<Rate>,
    pub(crate) transaction: &'a mut Transaction,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) tell: &'a mut dyn FnMut(Progress<'_>),
}

/// What is told of a search.
pub(crate) enum Progress<'a> {
    /// A trial at this rate begins.
    Begins(Rate),
    /// A trial ended: the last of these.
    Ended(&'a Knee),
}

/// Why there is no knee.
#[derive(Debug)]
pub(crate) enum NoKnee {
    Test(TestError),
    Shaper(fathom_shaper::ApplyError),
    Line(Failure),
    Stopped,
    /// The test ended before the search did, for this reason.
    Short(String),
}

impl Search<'_> {
    /// Goes on with `knee` until it is found. All trials are told as they end.
    pub(crate) fn run(self, base: &TestConfig, knee: &mut Knee) -> Result<Found, NoKnee> {
        let enough = AtomicBool::new(false);
        let kind = if self.direction == Direction::Up { PhaseKind::Up } else { PhaseKind::Down };
        let load = PhasePlan { kind, min: TRIAL, max: TRIAL };
        let mut phases = vec![PhasePlan { kind: PhaseKind::Idle, min: IDLE, max: IDLE }];
        phases.extend([load; TRIALS]);
        let config = TestConfig {
            phases,
            sample_every: SAMPLE_EVERY,
            probes: vec![ProbeKind::Udp, ProbeKind::Icmp],
            ..base.clone()
        };
        let clock = config.clock;
        let begun = clock.now();
        let outer = self.stop;
        let mut course =
            Course { search: self, knee, begun, idle: Delays::default(), trial: None, result: None };
        let run = run_test(&config, &enough, &mut |event| {
            course.take(&event, clock.now());
            if course.result.is_some() || outer.load(Ordering::Relaxed) {
                enough.store(true, Ordering::Relaxed);
            }
        });
        if outer.load(Ordering::Relaxed) {
            return Err(NoKnee::Stopped);
        }
        match (course.result, run) {
            (Some(result), _) => result,
            (None, Err(error)) => Err(NoKnee::Test(error)),
            (None, Ok(run)) => match (run.partial, knee.step(true)) {
                (Some(reason), _) => Err(NoKnee::Short(reason)),
                (None, Step::Found(found)) => Ok(found),
                (None, Step::Failed(failure)) => Err(NoKnee::Line(failure)),
                (None, Step::Try(_)) => Err(NoKnee::Short("all trials were made".to_owned())),
            },
        }
    }
}

/// Round trips by UDP and by ICMP: the first are taken, unless nobody answers them.
#[derive(Default, Debug)]
struct Delays([Vec<(f64, bool)>; 2]);

impl Delays {
    fn add(&mut self, metric: Metric, observation: &Observation) {
        let place = match metric {
            Metric::UdpRtt => 0,
            Metric::IcmpRtt => 1,
            _ => return,
        };
        self.0[place].push(match observation.value {
            Value::Observed(seconds) => (seconds, false),
            Value::Censored { at_least } => (at_least, true),
        });
    }
    fn median(&self, which: usize) -> Option<f64> {
        Some(Sample::new(self.0.get(which)?.iter().copied()).percentile(0.5)?.value)
    }
    /// The first of both that has a median here and in `idle`, less that.
    fn above(&self, idle: &Delays) -> Option<Duration> {
        let rise = |which| Some((self.median(which)? - idle.median(which)?).max(0.0));
        rise(0).or_else(|| rise(1)).map(Duration::from_secs_f64)
    }
}

/// A trial that is under way.
struct Running {
    offered: Rate,
    /// What is looked at begins here.
    since: Time,
    delays: Delays,
    watch: Watch,
    looked: Time,
}

struct Course<'a, 'k> {
    search: Search<'a>,
    knee: &'k mut Knee,
    begun: Time,
    idle: Delays,
    trial: Option<Running>,
    result: Option<Result<Found, NoKnee>>,
}

impl Course<'_, '_> {
    fn take(&mut self, event: &Event, now: Time) {
        if self.result.is_some() {
            return;
        }
        match event {
            Event::PhaseStarted { kind: PhaseKind::Idle, .. } => {}
            Event::PhaseStarted { at, .. } => self.begin(*at, now),
            Event::Observed { key, observation } => self.observe(key.metric, observation),
            // One that was cut short has no later half to judge by.
            Event::PhaseEnded(phase) if phase.end == PhaseEnd::Aborted => self.trial = None,
            Event::PhaseEnded(phase) if phase.kind != PhaseKind::Idle => self.end(),
            _ => {}
        }
        if let Err(error) = self.look(now) {
            self.result = Some(Err(NoKnee::Shaper(error)));
        }
    }
    fn begin(&mut self, at: Time, now: Time) {
        let is_over = now.saturating_since(self.begun) > LONGEST;
        let offered = match self.knee.step(is_over) {
            Step::Try(offered) => offered,
            Step::Found(found) => return self.result = Some(Ok(found)),
            Step::Failed(failure) => return self.result = Some(Err(NoKnee::Line(failure))),
        };
        if let Err(error) = self.set(offered) {
            return self.result = Some(Err(NoKnee::Shaper(error)));
        }
        (self.search.tell)(Progress::Begins(offered));
        let since = at + TRIAL / 2;
        let watch = Watch::new(self.search.direction == Direction::Down);
        self.trial = Some(Running { offered, since, delays: Delays::default(), watch, looked: now });
    }
    fn set(&mut self, offered: Rate) -> Result<(), fathom_shaper::ApplyError> {
        let wide =
            self.search.other.map(|rate| Rate::from_bits_per_second(rate.as_bits_per_second() * OTHER_TIMES));
        let (up, down) = match self.search.direction {
            Direction::Up => (Some(offered), wide),
            Direction::Down => (wide, Some(offered)),
        };
        self.search.transaction.set_rates(up, down)
    }
    fn observe(&mut self, metric: Metric, observation: &Observation) {
        match &mut self.trial {
            None => self.idle.add(metric, observation),
            Some(trial) if observation.at >= trial.since => trial.delays.add(metric, observation),
            Some(_) => {}
        }
    }
    fn look(&mut self, now: Time) -> Result<(), fathom_shaper::ApplyError> {
        let Some(trial) = &mut self.trial else { return Ok(()) };
        if now < trial.since || now.saturating_since(trial.looked) < LOOK_EVERY {
            return Ok(());
        }
        trial.looked = now;
        let look = self.search.transaction.look()?;
        let side = if self.search.direction == Direction::Up { look.up } else { look.down };
        side.iter().for_each(|stats| trial.watch.note(now, stats));
        Ok(())
    }
    fn end(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        let delivered = trial.watch.rate_since(trial.since).unwrap_or_default();
        let needed = trial.offered.as_bits_per_second() as f64 * DEMAND_RATIO;
        let rung = self.search.transaction.plan().rung;
        let allowed = self.search.budget.at(rung, trial.offered);
        // Nobody answered: worse than any delay.
        let delay = trial.delays.above(&self.idle).unwrap_or(TRIAL);
        self.knee.note(Trial {
            offered: trial.offered,
            delivered,
            delay,
            is_delayed: delay > allowed,
            is_marginal: delay < allowed * MARGINAL_TIMES,
            is_demanded: delivered.as_bits_per_second() as f64 >= needed,
        });
        (self.search.tell)(Progress::Ended(self.knee));
        if let Step::Found(found) = self.knee.step(false) {
            self.result = Some(Ok(found));
        }
    }
}
