//! The use cases of `fathom watch` and `fathom fleet`. A watch runs until it is cancelled: probes,
//! scheduled tests, history, web page, alerts, and metrics for other systems.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod archive;
mod confined;
mod diagnose;
mod export;
mod gateway;
mod import;
mod line_tests;
mod notification;
mod page;
mod push;
mod receivers;
mod replay;
mod results_dir;
mod routers;
mod status;
mod upkeep;

pub use diagnose::{PatternSearch, diagnose};
pub use export::{Destination, ExportRequest, Exported, TableFormat, WINDOWS, export};
pub use gateway::{EnrollRequest, GatewayTrust, enroll_site};
pub use import::{Conversion, ImportEvent, ImportOutcome, ImportWritten, convert, import_databases};
pub use receivers::{ReceiverTest, test_receivers};
pub use replay::{ReplayRequest, Replayed, ReplayedAlert, replay};
pub use status::{Status, TargetStatus, TestStatus, behind, status};
pub use upkeep::{RepairEvent, back_up, repair, verify};

use archive::Archives;
pub use fathom_app::history::{HistorySource, Period, Source, directory};
use fathom_app::{AppError, CancelToken};
use fathom_os::memory::{limit_arenas, trim};
use fathom_os::poll;
use fathom_os::sched::drop_realtime_priority;
use fathom_units::Bytes;
use fathom_watch_alert::{Condition, Rule, Transition};
pub use fathom_watch_archive::{Progress as ArchiveProgress, Sent};
use fathom_watch_engine::{
    Changes, Event, Health, Monitor, StoreWriter, packet_limit, permitted, unknown_load,
};
use fathom_watch_plan::Plan;
pub use fathom_watch_push::Progress;
use fathom_watch_push::{Gateway, Pusher};
pub use fathom_watch_store::Recovered;
use fathom_watch_store::{History, HistoryConfig, Repair};
use fathom_web::WebError;
use gateway::KeyThread;
use line_tests::{LineTests, TestReport};
use notification::NotificationService;
use routers::Routers;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two checks for problems. A signal ends the wait at once, unless it arrives just
/// before.
const LOOK_EVERY: fathom_units::Duration = fathom_units::Duration::from_millis(500);
/// Minimum time between two reports of impaired measurements.
const HEALTH_EVERY: Duration = Duration::from_secs(60);

/// Receives the events of a watch, on any of its threads.
pub type Events = Arc<dyn Fn(WatchEvent) + Send + Sync>;

/// An event of a watch.
#[derive(Debug)]
pub enum WatchEvent {
    /// The history was repaired when it was opened.
    Repaired(Repair),
    /// The rights that a watch does not need could not be dropped.
    NotConfined(std::io::Error),
    /// The watch has started to send probes.
    Started,
    /// An alert can never be raised, because it needs the throughput of this host.
    BlindAlert {
        /// The name.
        alert: String,
        /// Why the throughput is unknown.
        why: String,
    },
    /// The page is served.
    Page {
        /// The address.
        address: SocketAddr,
        /// Whether it is served by TLS.
        is_secure: bool,
        /// SHA-256 of its certificate, if that is self-signed.
        fingerprint: Option<String>,
        /// A new password and the file that contains it.
        new_password: Option<(String, PathBuf)>,
    },
    /// The page is not served. No address was requested.
    NoPage(WebError),
    /// The directory of results cannot be read.
    NoResults {
        /// The directory.
        folder: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
    /// A problem of the watch.
    Problem(String),
    /// Probes that were not sent in time and left out.
    Missed(u64),
    /// Packets without a kernel timestamp, or sent while this host was busy.
    Unstamped(u64),
    /// ICMP replies from hosts that were not probed.
    Strangers(u64),
    /// The outcome of a delivery.
    Delivery(String),
    /// An event of a push destination.
    Push(String),
    /// A scheduled test ended or was not made.
    Test(String),
    /// An alert was raised or cleared.
    Alert(Box<Transition>),
    /// The alerts of an earlier process could not be loaded.
    AlertsNotLoaded(String),
    /// The state of alerts could not be saved.
    AlertsNotSaved(String),
    /// The configuration was read again.
    Reloaded(Changes),
    /// Some settings of the new configuration apply only after a restart.
    NeedsRestart,
    /// The new configuration has an error. The old one stays in use.
    NotReloaded(AppError),
    /// The push destinations of the new configuration cannot be used. The old ones stay in use.
    PushNotReloaded(AppError),
}

/// Arenas of the memory allocator: one for the threads that probe and write, and one that queries
/// of the page may occupy. With glibc's default, the memory of a watch grew by 14 MB in an hour.
const ARENAS: u8 = 2;
/// The store frees the samples of ten minutes at once, in memory between others.
const TRIM_EVERY: Duration = Duration::from_secs(600);

/// A request to watch.
#[derive(Clone, Debug)]
pub struct WatchRequest {
    /// The source of the plan, which a reload reads again.
    pub source: Source,
    /// The plan, from [`checked`].
    pub plan: Plan,
    /// Directory of the history.
    pub store: PathBuf,
    /// Address of the web page. `None` uses that of the plan.
    pub listen: Option<SocketAddr>,
}

/// Reads a plan and checks it completely, without sending a probe.
///
/// # Errors
/// The first error.
pub fn checked(source: &Source) -> Result<Plan, AppError> {
    let plan = source.read()?;
    let (limit, why) = packet_limit(&plan);
    plan.within(limit, &why).map_err(|refusal| AppError::WatchPlan(format!("{source}: {refusal}")))?;
    push::destinations(&plan, None)?;
    line_tests::check_policies(&plan)
        .map_err(|refusal| AppError::WatchPlan(format!("{source}: {refusal}")))?;
    Ok(plan)
}

/// Checks that this process may send the probes of a plan.
///
/// # Errors
/// If it may not send them.
pub fn check_permission(plan: &Plan) -> Result<(), AppError> {
    permitted(plan).map_err(|refusal| AppError::NotPermitted(refusal.to_string()))
}

/// Opens a history for writing, within a budget of disk space.
///
/// # Errors
/// If the directory cannot be used.
pub fn open_history(
    store: &Path,
    budget: Option<Bytes>,
    repaired: &mut dyn FnMut(Repair),
) -> Result<History, AppError> {
    let config = HistoryConfig { budget, ..HistoryConfig::default() };
    let (history, repairs) = History::open(store, &config).map_err(AppError::history)?;
    repairs.into_iter().for_each(repaired);
    Ok(history)
}

/// The parts of a running watch.
struct Running<'a> {
    request: &'a WatchRequest,
    monitor: Monitor,
    pusher: Pusher,
    gateway: Option<Gateway>,
    keys: Option<KeyThread>,
    archives: Archives,
    routers: Arc<Routers>,
    tests: LineTests,
    notifications: NotificationService,
    events: &'a Events,
}

/// Watches until `cancel`. Reads the configuration again whenever `reload` is set. Returns the
/// problems at the end.
///
/// # Errors
/// If the watch cannot be started.
pub fn run(
    request: &WatchRequest,
    cancel: &CancelToken,
    reload: &AtomicBool,
    events: &Events,
) -> Result<Vec<String>, AppError> {
    let (plan, store) = (&request.plan, &request.store);
    check_permission(plan)?;
    limit_arenas(ARENAS);
    let gateway = gateway::gateway(plan, store)?;
    let history = open_history(store, plan.disk_budget, &mut |repair| events(WatchEvent::Repaired(repair)))?;
    let results = line_tests::results_folder(plan, store);
    confined::confine(plan, store, results.as_deref(), events);
    let (notifications, backend) = notification::start(plan, store, events);
    let monitor = Monitor::start_with(plan, Box::new(StoreWriter::new(history)), Some(backend));
    let monitor = monitor.map_err(|error| AppError::Monitor(error.to_string()))?;
    // Only the probing threads need real-time priority.
    let _ = drop_realtime_priority();
    events(WatchEvent::Started);
    report_blind(plan, events);
    let page = page::start(request, plan, results.clone(), monitor.live(), events)?;
    let (gateway, keeper) = gateway.unzip();
    let routers = Arc::new(Routers::new(plan, monitor.live()));
    let pusher = push::start(plan, store, gateway.as_ref(), &routers)?;
    let archives = Archives::start(plan, store, results.as_deref(), gateway.as_ref(), &routers);
    let keys = keeper.map(KeyThread::start);
    let tests = LineTests::start(plan, store, results, monitor.live());
    let mut running =
        Running { request, monitor, pusher, gateway, keys, archives, routers, tests, notifications, events };
    running.run_until_cancelled(cancel, reload);
    drop(page);
    Ok(running.stop())
}

/// Reports alerts that can never be raised: they would look like a healthy line.
fn report_blind(plan: &Plan, events: &Events) {
    let needs_load = |rule: &&Rule| matches!(rule.condition, Condition::Bufferbloat { .. });
    if let Some((rule, why)) = plan.alerts.iter().find(needs_load).zip(unknown_load(plan)) {
        events(WatchEvent::BlindAlert { alert: rule.name.clone(), why: why.to_string() });
    }
}

impl Running<'_> {
    /// Stops all threads. Returns what could not be written.
    fn stop(self) -> Vec<String> {
        self.tests.stop();
        self.keys.into_iter().for_each(KeyThread::stop);
        push::report(&self.pusher, &self.monitor, self.events);
        self.archives.report(&self.monitor, self.events);
        self.pusher.stop();
        self.archives.stop();
        let problems = self.monitor.stop();
        self.notifications.close();
        problems
    }
    fn run_until_cancelled(&mut self, cancel: &CancelToken, reload: &AtomicBool) {
        let (mut health, mut reported_at) = (Health::default(), Instant::now());
        let mut trimmed_at = Instant::now();
        while !cancel.is_cancelled() {
            // A signal ends the wait.
            let _ = poll::wait(&mut [], Some(LOOK_EVERY));
            if reload.swap(false, Ordering::Relaxed) {
                self.reload();
            }
            push::report(&self.pusher, &self.monitor, self.events);
            self.archives.report(&self.monitor, self.events);
            self.record_tests();
            for problem in self.keys.iter().flat_map(KeyThread::problems) {
                (self.events)(WatchEvent::Push(problem));
            }
            self.notifications.report(&self.monitor);
            self.notifications.notify_own(self.monitor.live().own().troubles);
            for problem in self.monitor.problems() {
                (self.events)(WatchEvent::Problem(problem));
            }
            if reported_at.elapsed() >= HEALTH_EVERY {
                let now = self.monitor.health();
                report_health(health, now, self.events);
                (health, reported_at) = (now, Instant::now());
            }
            if trimmed_at.elapsed() >= TRIM_EVERY {
                trim();
                trimmed_at = Instant::now();
            }
        }
    }
    /// Records the results of scheduled tests.
    fn record_tests(&self) {
        for TestReport { name, at, values, text, is_saved } in self.tests.reports() {
            if let Some(values) = values {
                self.monitor.record_test(&name, at, &values, &text);
            }
            // The page shows a saved result by itself.
            if !is_saved {
                self.monitor.remember(Event { at, kind: "test", text: text.clone() });
            }
            (self.events)(WatchEvent::Test(text));
        }
    }
    /// Reads the configuration again. A plan with an error changes nothing.
    fn reload(&mut self) {
        let first = &self.request.plan;
        let plan = checked(&self.request.source).and_then(|plan| {
            check_permission(&plan)?;
            match confined::refused_receiver(first, &plan) {
                Some(receiver) => Err(AppError::ReceiverRunsProgram { receiver }),
                None => Ok(plan),
            }
        });
        match plan {
            Ok(plan) => {
                self.notifications.reload(&plan);
                let changes = self.monitor.reload(&plan);
                self.tests.reload(&plan);
                self.routers.reload(&plan);
                push::reload(&mut self.pusher, &plan, self.gateway.as_ref(), self.events);
                self.archives.reload(&plan, self.gateway.as_ref());
                (self.events)(WatchEvent::Reloaded(changes));
                report_blind(&plan, self.events);
                if fixed(&plan) != fixed(first) {
                    (self.events)(WatchEvent::NeedsRestart);
                }
            }
            Err(error) => (self.events)(WatchEvent::NotReloaded(error)),
        }
    }
}

/// The settings that only a restart changes.
fn fixed(plan: &Plan) -> impl PartialEq {
    let page = (plan.listen, &plan.password_file, plan.tls, &plan.certificate, &plan.hosts);
    (&plan.store, plan.disk_budget, page, &plan.results, plan.seed)
}

/// Reports impaired measurements since the last report.
fn report_health(before: Health, now: Health, events: &Events) {
    let report = |count: u64, event: fn(u64) -> WatchEvent| {
        if count > 0 {
            events(event(count));
        }
    };
    report(now.missed - before.missed, WatchEvent::Missed);
    report(now.unstamped - before.unstamped, WatchEvent::Unstamped);
    report(now.strangers - before.strangers, WatchEvent::Strangers);
}
