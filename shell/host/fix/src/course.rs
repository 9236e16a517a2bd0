//! The course of a fix, from the first measurement to the last word.
use crate::beside::{Beside, Spans};
use crate::budget::Budget;
use crate::margin::{MARGINS, share};
use crate::memory::Memory;
use crate::proof::{Claim, Proof};
use crate::search::{NoKnee, Progress, Search};
use crate::sizes;
use fathom_client::{Event, PhasePlan, ProbeKind, TestConfig, TestError, run_test};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::{PhaseKind, Run};
use fathom_shape::knee::{Failure, Found, Knee, Trial};
use fathom_shaper::{ApplyError, Framing, Place, Plan, Restored, Rung, Transaction, Wish};
use fathom_units::{Direction, Duration, Rate};
use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Loaded phases last at least this, and at most the second.
const LOADED: (Duration, Duration) = (Duration::from_secs(6), Duration::from_secs(12));
const IDLE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(4));
/// A search in one direction takes a minute at most, and a proof as long: after so long the guard takes it that nobody comes back.
const GUARD_LIMIT: std::time::Duration = std::time::Duration::from_secs(300);
/// Full packets over their payload with timestamps, as an Ethernet interface counts them.
const FRAMES_OVER_GOODPUT: f64 = 1514.0 / 1448.0;

/// What the measured overhead is raised by: too little fills the queue of the line, too much costs a share of the rate that is a tenth of it.
const OVERHEAD_ERROR_BYTES: f64 = 3.0;

/// What is to be fixed, and how.
#[derive(Clone, Debug)]
pub struct FixConfig {
    /// How to measure: the server, its token, flows and congestion control. Phases are chosen here.
    pub test: TestConfig,
    /// Where the state of the interface is kept.
    pub place: Place,
    /// Which shaper; the best that the kernel has if left out.
    pub rung: Option<Rung>,
    /// How packets are counted; an overhead that is not given is measured.
    pub framing: Framing,
    /// How much delay may stay.
    pub budget: Budget,
    /// Which directions are shaped, up and down.
    pub directions: [bool; 2],
    /// Rates to take as they are instead of searching.
    pub rates: [Option<Rate>; 2],
    /// Shape even a line without bufferbloat.
    pub force: bool,
    /// Measure and search, and end with the plan; the trials are kept for a fix that follows.
    pub dry_run: bool,
}

/// What is told on the way.
#[derive(Debug)]
pub enum Tell<'a> {
    /// A test began: for what.
    Test(&'static str),
    /// An event of that test.
    Event(Event),
    /// What the line is like without a shaper.
    Baseline(&'a Diagnosis),
    /// What a packet takes on the line beyond IP, in bytes, and what tells it, if anything does.
    Overhead(Option<(u16, &'static str)>),
    /// What an earlier one left behind was put back.
    Recovered(&'a str),
    /// A search begins, or goes on after so many trials that were made before.
    Search(Direction, usize),
    /// A trial at this rate begins.
    Trying(Direction, Rate),
    /// A trial ended.
    Trial(Direction, &'a Trial),
    /// The knee of a direction.
    Knee(Direction, &'a Found),
    /// This is going to be done, and can be undone so.
    Plan(&'a Plan),
    /// What became of an attempt.
    Proof(&'a Proof),
    /// All is as it was.
    Restored(&'a Restored),
}

/// Why a fix did not come to its end.
#[derive(Debug)]
pub enum FixError {
    /// The line could not be measured.
    Test(TestError),
    /// The interface could not be changed, or not be put back.
    Apply(ApplyError),
    /// No knee was found in a direction.
    NoKnee(Direction, Failure),
    /// A measurement ended before it had what it was for.
    Short(String),
    /// The user stopped it. All was put back.
    Stopped,
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Test(error) => error.fmt(f),
            FixError::Apply(error) => error.fmt(f),
            FixError::NoKnee(direction, failure) => match failure {
                Failure::NotDemanded => write!(
                    f,
                    "no knee {direction}: the load did not fill the shaper even below what the line gave without it\n  try: \
                         a nearer server, or --{direction} RATE"
                ),
                Failure::AlwaysDelayed => write!(
                    f,
                    "no knee {direction}: the delay stays at every rate, so the queue is not behind this interface\n  try: \
                         fathom audit, another interface, or a larger --budget"
                ),
            },
            FixError::Short(why) => write!(f, "the measurement was cut short: {why}"),
            FixError::Stopped => f.write_str("stopped; everything is as it was"),
        }
    }
}
impl std::error::Error for FixError {}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There was nothing to fix, and nothing was changed.
    NotNeeded,
    /// The shaper is proven and stays.
    Proven,
    /// No attempt was proven; everything is as it was.
    NotProven,
    /// There is a plan and nothing was changed, as was wanted.
    Planned,
}

/// All that is known at the end.
#[derive(Debug)]
pub struct Fixed {
    /// How it ended.
    pub outcome: Outcome,
    /// The test without a shaper.
    pub before: Run,
    /// The test of the last attempt.
    pub after: Option<Run>,
    /// The last attempt's predicates.
    pub proof: Option<Proof>,
    /// The plan that stays, or was tried last.
    pub plan: Option<Plan>,
    /// How packets were counted.
    pub framing: Framing,
    /// The knees, up and down, where they were searched.
    pub knees: [Option<Found>; 2],
    /// The trials of the searches, up and down.
    pub trials: [Vec<Trial>; 2],
    /// How long the searches took, up and down.
    pub search: [Duration; 2],
}

/// Measures, searches, shapes and proves. `guard` makes the command of the process that puts everything back if this one dies; `stop`
/// ends it at any time, with everything put back.
///
/// # Errors
/// Whatever kept it from an answer. The interface is as it was then, unless the error says that it could not be put back.
pub fn fix(
    config: &FixConfig,
    guard: &dyn Fn() -> Command,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Tell<'_>),
) -> Result<Fixed, FixError> {
    Course { config, framing: config.framing, guard, stop, tell }.run()
}

struct Course<'a> {
    config: &'a FixConfig,
    framing: Framing,
    guard: &'a dyn Fn() -> Command,
    stop: &'a AtomicBool,
    tell: &'a mut dyn FnMut(Tell<'_>),
}

/// What the searches found.
#[derive(Default)]
struct Searched {
    knees: [Option<Found>; 2],
    trials: [Vec<Trial>; 2],
    took: [Duration; 2],
}

impl Course<'_> {
    fn run(mut self) -> Result<Fixed, FixError> {
        self.look_ahead()?;
        (self.tell)(Tell::Test("the line as it is"));
        let (before, _) = self.measure(&[PhaseKind::Up, PhaseKind::Down], None)?;
        let diagnosis = diagnose(&before);
        (self.tell)(Tell::Baseline(&diagnosis));
        let guess = [Direction::Up, Direction::Down].map(|way| goodput(&diagnosis, way));
        let mut fixed = Fixed {
            outcome: Outcome::NotNeeded,
            before,
            after: None,
            proof: None,
            plan: None,
            framing: self.framing,
            knees: [None; 2],
            trials: Default::default(),
            search: [Duration::ZERO; 2],
        };
        let bloated = self.bloated(&diagnosis);
        if bloated == [false; 2] && !self.config.force {
            return Ok(fixed);
        }
        self.find_overhead(bloated)?;
        fixed.framing = self.framing;
        let searched = self.search_both(bloated, guess)?;
        (fixed.knees, fixed.trials, fixed.search) = (searched.knees, searched.trials, searched.took);
        self.attempts(&diagnosis, bloated, &mut fixed)?;
        Ok(fixed)
    }
    /// What stands against a shaper is said before a minute of load; and what an earlier fix left behind is put back, as it would be
    /// taken for the line. Any rate serves: nothing is put on.
    fn look_ahead(&mut self) -> Result<(), FixError> {
        const ANY: Rate = Rate::from_bits_per_second(10_000_000);
        let wanted = self.config.directions.map(|is_wanted| is_wanted.then_some(ANY));
        self.begin(wanted).map(drop)
    }
    /// Which of the wanted directions are to be shaped.
    fn bloated(&self, diagnosis: &Diagnosis) -> [bool; 2] {
        [(0, PhaseKind::Up), (1, PhaseKind::Down)].map(|(way, kind)| {
            let phase = diagnosis.phases.iter().find(|phase| phase.kind == kind);
            let rise = phase.and_then(|phase| phase.increase_p50_s).map_or(0.0, |rise| rise.value);
            let limit =
                |rate| self.config.budget.at(self.config.rung.unwrap_or(Rung::Cake), rate).as_secs_f64();
            let rate = phase.and_then(|phase| goodput_of(phase, way));
            let is_bloated = rate.is_some_and(|rate| rise > limit(rate));
            self.config.directions[way]
                && (is_bloated || self.config.force || self.config.rates[way].is_some())
        })
    }
    /// What small packets take more than their bytes: without it a shaper that is right for full packets is too fast for small ones.
    fn find_overhead(&mut self, bloated: [bool; 2]) -> Result<(), FixError> {
        if self.framing.overhead.is_some() || self.framing.atm {
            return Ok(());
        }
        (self.tell)(Tell::Test("the line with small packets, and with large ones"));
        let direction = if bloated[0] { Direction::Up } else { Direction::Down };
        let found = sizes::measure(&self.config.test, direction, self.stop).map_err(FixError::Test)?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(FixError::Stopped);
        }
        let measured =
            found.map(|bytes| ((bytes + OVERHEAD_ERROR_BYTES).round() as u16, "two sizes of packets"));
        let told = measured.or_else(|| sizes::by_interface(&self.config.place.device));
        self.framing.overhead = told.map(|(bytes, _)| bytes);
        (self.tell)(Tell::Overhead(told));
        Ok(())
    }
    fn wish(&self, rates: [Option<Rate>; 2]) -> Wish {
        Wish {
            device: self.config.place.device.clone(),
            up: rates[0],
            down: rates[1],
            rung: self.config.rung,
            framing: self.framing,
        }
    }
    fn begin(&mut self, rates: [Option<Rate>; 2]) -> Result<Transaction, FixError> {
        let transaction =
            Transaction::begin(&self.wish(rates), &self.config.place).map_err(FixError::Apply)?;
        if let Some(words) = transaction.recovered() {
            (self.tell)(Tell::Recovered(words));
        }
        Ok(transaction)
    }
    /// The knees of the directions whose rates are not given, behind a shaper that is there for that alone.
    fn search_both(&mut self, bloated: [bool; 2], guess: [Option<Rate>; 2]) -> Result<Searched, FixError> {
        let mut searched = Searched::default();
        let is_wanted = [0, 1].map(|way| bloated[way] && self.config.rates[way].is_none());
        if is_wanted == [false; 2] {
            return Ok(searched);
        }
        let start = [0, 1].map(|way| bloated[way].then_some(self.config.rates[way].or(guess[way])).flatten());
        let mut transaction = self.begin(start)?;
        transaction.apply((self.guard)(), GUARD_LIMIT).map_err(FixError::Apply)?;
        for (way, direction) in [Direction::Up, Direction::Down].into_iter().enumerate() {
            let Some(guess) = guess[way].filter(|_| is_wanted[way]) else { continue };
            let begun = self.config.test.clock.now();
            let (found, trials) = self.search(&mut transaction, direction, guess, start[1 - way])?;
            (searched.knees[way], searched.trials[way]) = (Some(found), trials);
            searched.took[way] = self.config.test.clock.now().saturating_since(begun);
        }
        transaction.roll_back("the search is done").map_err(FixError::Apply)?;
        Ok(searched)
    }
    fn search(
        &mut self,
        transaction: &mut Transaction,
        direction: Direction,
        guess: Rate,
        other: Option<Rate>,
    ) -> Result<(Found, Vec<Trial>), FixError> {
        let shaper = transaction.plan().rung.name();
        let memory = Memory::new(&self.config.place, direction, &self.config.test.server, shaper);
        let mut knee = memory.recall().unwrap_or(Knee::new(guess));
        let tell = &mut *self.tell;
        tell(Tell::Search(direction, knee.trials().len()));
        let mut on_trial = |progress: Progress<'_>| match progress {
            Progress::Begins(rate) => tell(Tell::Trying(direction, rate)),
            Progress::Ended(so_far) => {
                memory.keep(so_far);
                so_far.trials().last().iter().for_each(|trial| tell(Tell::Trial(direction, trial)));
            }
        };
        let search = Search {
            direction,
            budget: self.config.budget,
            other,
            transaction,
            stop: self.stop,
            tell: &mut on_trial,
        };
        let result = search.run(&self.config.test, &mut knee);
        let found = result.map_err(|why| match why {
            NoKnee::Test(error) => FixError::Test(error),
            NoKnee::Shaper(error) => FixError::Apply(error),
            NoKnee::Stopped => FixError::Stopped,
            NoKnee::Short(why) => FixError::Short(why),
            NoKnee::Line(failure) => {
                memory.forget();
                FixError::NoKnee(direction, failure)
            }
        })?;
        if !self.config.dry_run {
            memory.forget();
        }
        (self.tell)(Tell::Knee(direction, &found));
        Ok((found, knee.trials().to_vec()))
    }
    /// The shaper at one margin after the other, until one is proven. Rates that were given are tried as they are, once.
    fn attempts(
        &mut self,
        before: &Diagnosis,
        bloated: [bool; 2],
        fixed: &mut Fixed,
    ) -> Result<(), FixError> {
        let is_given = [0, 1].map(|way| bloated[way] && fixed.knees[way].is_none());
        let margins = if fixed.knees == [None; 2] { &MARGINS[..1] } else { &MARGINS[..] };
        for (up, down) in margins {
            let rates = [(0, up), (1, down)].map(|(way, margin)| {
                let found = fixed.knees[way].map(|knee| share(knee.rate, *margin));
                found.or(self.config.rates[way].filter(|_| is_given[way]))
            });
            let mut transaction = self.begin(rates)?;
            (self.tell)(Tell::Plan(transaction.plan()));
            if self.config.dry_run {
                (fixed.plan, fixed.outcome) = (Some(transaction.plan().clone()), Outcome::Planned);
                return Ok(());
            }
            transaction.apply((self.guard)(), GUARD_LIMIT).map_err(FixError::Apply)?;
            (self.tell)(Tell::Test("the line with the shaper"));
            let kinds = [PhaseKind::Up, PhaseKind::Down, PhaseKind::Both];
            let (after, spans) = self.measure(&kinds, Some(&mut transaction))?;
            let plan = transaction.plan().clone();
            let claim = Claim { budget: self.config.budget, rung: plan.rung, rates, before };
            let proof = claim.prove(&diagnose(&after), &spans);
            (self.tell)(Tell::Proof(&proof));
            let holds = proof.holds();
            (fixed.after, fixed.proof, fixed.plan) = (Some(after), Some(proof), Some(plan));
            if holds {
                transaction.commit().map_err(FixError::Apply)?;
                fixed.outcome = Outcome::Proven;
                return Ok(());
            }
            let restored = transaction.roll_back("it was not proven").map_err(FixError::Apply)?;
            (self.tell)(Tell::Restored(&restored));
        }
        fixed.outcome = Outcome::NotProven;
        Ok(())
    }
    /// A test of these loads; the shaper's counters around each.
    fn measure(
        &mut self,
        kinds: &[PhaseKind],
        transaction: Option<&mut Transaction>,
    ) -> Result<(Run, Spans), FixError> {
        let plan = |kind, (min, max)| PhasePlan { kind, min, max };
        let mut phases = vec![plan(PhaseKind::Idle, IDLE)];
        phases.extend(kinds.iter().map(|kind| plan(*kind, LOADED)));
        let probes = vec![ProbeKind::Udp, ProbeKind::Icmp];
        let config = TestConfig { phases, probes, ..self.config.test.clone() };
        let mut beside = transaction.map(|transaction| Beside::new(transaction, config.clock));
        let tell = &mut *self.tell;
        let run = run_test(&config, self.stop, &mut |event| {
            beside.iter_mut().for_each(|beside| beside.take(&event));
            tell(Tell::Event(event));
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(FixError::Stopped);
        }
        let (spans, series) =
            beside.map_or(Ok(Default::default()), Beside::finish).map_err(FixError::Apply)?;
        let mut run = run.map_err(FixError::Test)?;
        run.series.extend(series);
        match run.partial {
            Some(why) => Err(FixError::Short(why)),
            None => Ok((run, spans)),
        }
    }
}

fn goodput_of(phase: &fathom_diagnose::PhaseSummary, way: usize) -> Option<Rate> {
    let goodput = [phase.goodput_up_bits_per_second, phase.goodput_down_bits_per_second][way]?;
    Some(Rate::from_bits_per_second((goodput * FRAMES_OVER_GOODPUT) as u64))
}

/// What the line gave in a direction, as frames.
fn goodput(diagnosis: &Diagnosis, direction: Direction) -> Option<Rate> {
    let (way, kind) = match direction {
        Direction::Up => (0, PhaseKind::Up),
        Direction::Down => (1, PhaseKind::Down),
    };
    goodput_of(diagnosis.phases.iter().find(|phase| phase.kind == kind)?, way)
}
