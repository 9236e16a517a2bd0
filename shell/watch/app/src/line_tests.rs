//! Scheduled tests of a watch: a thread that makes one at a time.
mod ledger_file;
mod outcome;
mod results;

use fathom_app::CancelToken;
use fathom_app::test::{self, requires_acceptance};
use fathom_client::{PhasePlan, TestConfig};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::clock::wall_now;
use fathom_prose::verdict;
use fathom_run::{PhaseKind, Run};
use fathom_text::bytes as amount;
use fathom_units::{Bytes, Direction, PerDirection, WallTime};
use fathom_watch_engine::{LiveState, TestValues};
use fathom_watch_plan::{LineTest, Plan, is_of_test};
use fathom_watch_schedule::{Due, LeftOut, Lows, Schedule, busy};
use ledger_file::LedgerFile;
pub(super) use ledger_file::{LastTest, last_test};
use outcome::{payload, values};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of checks whether a test is due.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The end of a test, or a test that was not made.
pub(super) struct TestReport {
    /// Name of the test.
    pub(super) name: String,
    /// When the test ended.
    pub(super) at: WallTime,
    /// The result; `None` if no test was made.
    pub(super) values: Option<TestValues>,
    /// The verdict of a test, or why there is none.
    pub(super) text: String,
    /// Whether the result is on the page by its file.
    pub(super) is_saved: bool,
}

/// The running thread.
pub(super) struct LineTests {
    reports: Receiver<TestReport>,
    tests: Arc<Mutex<Wanted>>,
    cancel: CancelToken,
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

/// The directory of the results of scheduled tests and of others that the page shows. By default,
/// that of scheduled tests is next to the history, and is created.
pub(super) fn results_folder(plan: &Plan, store: &Path) -> Option<PathBuf> {
    let own = || {
        let own = (!plan.tests.is_empty()).then(|| store.join("results"))?;
        // A failure is reported when a result is saved.
        let _ = std::fs::create_dir(&own);
        Some(own)
    };
    plan.results.as_ref().map(PathBuf::from).or_else(own)
}

/// Refuses tests against servers whose policy the plan does not accept.
pub(super) fn check_policies(plan: &Plan) -> Result<(), String> {
    for one in &plan.tests {
        let required =
            requires_acceptance(&one.server).filter(|s| one.accept_policy.as_deref() != Some(s.name));
        if let Some(public) = required {
            return Err(format!(
                "test {}: {} requires your consent\n  try: accept_policy = \"{}\" ({})",
                one.name, public.title, public.name, public.policy
            ));
        }
    }
    Ok(())
}

impl LineTests {
    /// Starts to make the tests of a plan. `folder` is that of their results.
    pub(super) fn start(
        plan: &Plan,
        store: &Path,
        folder: Option<PathBuf>,
        live: Arc<LiveState>,
    ) -> LineTests {
        let tests = Arc::new(Mutex::new(Wanted::of(plan)));
        let (cancel, (stop, stopped), (to, reports)) = (CancelToken::new(), channel(), channel());
        let mut tester = Tester {
            tests: Arc::clone(&tests),
            file: LedgerFile::open(store, &to),
            lows: Lows::default(),
            folder,
            live,
            cancel: cancel.clone(),
            reports: to,
        };
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                tester.look();
            }
        });
        LineTests { reports, tests, cancel, stop, thread: Some(thread) }
    }
    /// The reports since the last call.
    pub(super) fn reports(&self) -> Vec<TestReport> {
        self.reports.try_iter().collect()
    }
    /// Makes other tests from now on.
    pub(super) fn reload(&self, plan: &Plan) {
        *self.tests.lock().unwrap_or_else(PoisonError::into_inner) = Wanted::of(plan);
    }
    /// Ends the current test and the thread.
    pub(super) fn stop(mut self) {
        self.cancel.cancel();
        let _ = self.stop.send(());
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// What a plan wants.
#[derive(Clone)]
struct Wanted {
    tests: Vec<LineTest>,
    /// Whether results are saved without addresses of the local network.
    hides_addresses: bool,
}

impl Wanted {
    fn of(plan: &Plan) -> Wanted {
        Wanted { tests: plan.tests.clone(), hides_addresses: plan.hides_local_addresses() }
    }
}

/// Makes the tests.
struct Tester {
    tests: Arc<Mutex<Wanted>>,
    file: LedgerFile,
    lows: Lows,
    folder: Option<PathBuf>,
    live: Arc<LiveState>,
    cancel: CancelToken,
    reports: Sender<TestReport>,
}

impl Tester {
    fn look(&mut self) {
        let now = wall_now();
        let above = self.lows.above(now, &self.delays());
        let wanted = self.tests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for one in &wanted.tests {
            let is_busy = busy(self.rates(), self.line(&one.name), above).is_some();
            let schedule = schedule(one, self.file.seed());
            let mut ledger = self.file.get(&one.name);
            let before = ledger;
            let due = schedule.due(&mut ledger, now, is_busy);
            match due {
                Due::Test(most) => {
                    // The data that it may take counts now, in case that the program is killed.
                    let mut begun = ledger;
                    schedule.made(&mut begun, now, ledger.last.min(most));
                    self.file.begin(&one.name, now, begun);
                    self.live.begin_test(now);
                    let used = self.make(one, most, wanted.hides_addresses);
                    schedule.made(&mut ledger, now, used);
                    self.file.set(&one.name, ledger);
                    return;
                }
                Due::LeaveOut(why) => self.report_left_out(one, why),
                Due::Wait => {}
            }
            if ledger != before {
                self.file.set(&one.name, ledger);
            }
        }
    }
    /// Makes a test. Returns its payload.
    fn make(&mut self, one: &LineTest, most: Bytes, hides_addresses: bool) -> Bytes {
        let tested = test::run(&config(one, most), &self.cancel, &mut |_| {});
        let ended = wall_now();
        self.live.end_test(ended);
        self.file.end(tested.is_ok().then_some(ended));
        match tested {
            Ok(mut run) => {
                if hides_addresses {
                    run.hide_local_addresses();
                }
                // Without its end, a test says less of the line than the others.
                if !self.cancel.is_cancelled() {
                    self.report_result(one, &run, &diagnose(&run));
                }
                payload(&run)
            }
            Err(error) => {
                if !self.cancel.is_cancelled() {
                    let text = format!("test {}: {error}", one.name);
                    self.report(one, Some(TestValues::default()), text, false);
                }
                Bytes::ZERO
            }
        }
    }
    fn report_result(&self, one: &LineTest, run: &Run, diagnosis: &Diagnosis) {
        let headline = verdict(run, diagnosis).headline;
        // Neither does one that was cut short, as by the budget.
        let values = run.partial.is_none().then(|| values(diagnosis));
        let saved = self.folder.as_ref().map(|folder| results::save(folder, &one.name, run));
        let problem = saved.as_ref().and_then(|saved| saved.as_ref().err());
        let text = match problem {
            None => format!("test {}: {headline}", one.name),
            Some(problem) => format!("test {}: {headline} Not saved: {problem}", one.name),
        };
        self.report(one, values, text, matches!(saved, Some(Ok(()))));
    }
    fn report_left_out(&self, one: &LineTest, why: LeftOut) {
        let why = match why {
            LeftOut::Busy => "others used the line".to_owned(),
            LeftOut::Budget => {
                format!(
                    "the budget of {} per month allows no more until later",
                    amount(one.budget.get() as f64)
                )
            }
        };
        self.report(one, None, format!("test {}: left out, because {why}", one.name), false);
    }
    fn report(&self, one: &LineTest, values: Option<TestValues>, text: String, is_saved: bool) {
        // If nobody listens, the watch is stopping.
        let _ =
            self.reports.send(TestReport { name: one.name.clone(), at: wall_now(), values, text, is_saved });
    }
    /// The median delays of the last minute, by series. Routers answer when they have time.
    fn delays(&self) -> Vec<(u32, fathom_units::Duration)> {
        let all = self.live.targets();
        let probed = all.iter().filter(|t| !is_of_test(&t.probe) && !t.probe.starts_with("hop "));
        probed.filter_map(|target| Some((target.series, target.median?))).collect()
    }
    /// What this host's interfaces carry, in bit/s.
    fn rates(&self) -> PerDirection<Option<f64>> {
        let host = self.live.host();
        PerDirection::from_fn(|direction| {
            let word = match direction {
                Direction::Up => " sent",
                Direction::Down => " received",
            };
            let rates = host.iter().filter(|now| now.probe.ends_with(word)).map(|now| now.mean);
            rates.reduce(f64::max)
        })
    }
    /// The rates of the line, by the last test.
    fn line(&self, name: &str) -> PerDirection<Option<f64>> {
        let tests: BTreeMap<String, Vec<(&str, f64)>> = self.live.tests();
        PerDirection::from_fn(|direction| {
            let probe = match direction {
                Direction::Up => "rate up",
                Direction::Down => "rate down",
            };
            let of = tests.get(name)?.iter().find(|(known, _)| *known == probe);
            of.map(|(_, value)| *value)
        })
    }
}

fn schedule(one: &LineTest, seed: u64) -> Schedule {
    let LineTest { name, interval, budget, while_busy, .. } = one;
    Schedule { name: name.clone(), seed, interval: *interval, budget: *budget, while_busy: *while_busy }
}

/// One direction after the other, as long as the queue grows.
fn config(one: &LineTest, most: Bytes) -> TestConfig {
    let kinds = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Drain];
    TestConfig {
        token: one.token.clone(),
        phases: kinds.map(PhasePlan::of).into(),
        max_bytes: Some(most),
        ..TestConfig::new(&one.server)
    }
}
