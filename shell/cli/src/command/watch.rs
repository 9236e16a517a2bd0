//! `fathom watch`.
mod alerting;
mod confined;
mod diagnose;
mod export;
mod import;
mod page;
mod push;
mod replay;
mod shelf;
mod source;
mod status;
mod test_alert;

use crate::args::{WatchAction, WatchArgs, WatchImport};
use crate::failure::{Exit, Failure, Outcome};
use crate::signal::{WatchSignals, watch_signals};
use crate::terminal;
use alerting::Office;
use fathom_os::poll;
use fathom_os::sched::drop_realtime_priority;
use fathom_watch_alert::{Condition, Rule};
use fathom_watch_engine::{Health, Monitor, StoreWriter, packet_limit, permitted, unknown_load};
use fathom_watch_plan::Plan;
use fathom_watch_push::Pusher;
use fathom_watch_store::{History, HistoryConfig, Repair};
use source::Source;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How soon a problem is told. A signal is noticed at once, unless it comes in the very moment before the wait.
const LOOK_EVERY: fathom_units::Duration = fathom_units::Duration::from_millis(500);
/// What spoils measurements is told at most so often.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Watches, checks or shows.
pub(crate) fn run(args: &WatchArgs) -> Outcome {
    match &args.action {
        Some(WatchAction::Check(check)) => self::check(&Source::File(check.config.clone())),
        Some(WatchAction::Status(status)) => status::run(status),
        Some(WatchAction::Alerts(wanted)) => replay::run(wanted),
        Some(WatchAction::TestAlert(wanted)) => test_alert::run(wanted),
        Some(WatchAction::Diagnose(wanted)) => diagnose::run(wanted),
        Some(WatchAction::Export(wanted)) => export::run(wanted),
        Some(WatchAction::Import { from: WatchImport::Smokeping(from) }) => import::run(from),
        None => watch(args),
    }
}

/// Everything that can be wrong with a plan before a probe is sent.
fn checked(source: &Source) -> Result<Plan, Failure> {
    let plan = source.read()?;
    let (limit, why) = packet_limit(&plan);
    plan.within(limit, &why).map_err(|refusal| Failure::input(format_args!("{source}: {refusal}")))?;
    push::destinations(&plan)?;
    Ok(plan)
}

fn check(source: &Source) -> Outcome {
    let plan = checked(source)?;
    let hosts: std::collections::BTreeSet<&str> = plan.targets.iter().map(|t| t.host.as_str()).collect();
    let series: usize = plan.targets.iter().map(|t| t.series().len()).sum();
    terminal::print(&format!(
        "{source}: {} targets on {} hosts, up to {series} series, {:.1} packets/s: no mistake found\n",
        plan.targets.len(),
        hosts.len(),
        plan.packets_per_second(),
    ))?;
    permitted(&plan).map_err(Failure::environment)?;
    Ok(Exit::Healthy)
}

fn watch(args: &WatchArgs) -> Outcome {
    let signals = watch_signals()?;
    let source = Source::of(args);
    let plan = checked(&source)?;
    permitted(&plan).map_err(Failure::environment)?;
    let store = source::store(args.store.as_deref(), &plan)?;
    let history = open(&store)?;
    confined::confine(&plan, &store);
    let (office, alerting) = alerting::open(&plan, &store);
    let keep = Box::new(StoreWriter::new(history));
    let mut monitor = Monitor::start_with(&plan, keep, Some(alerting)).map_err(Failure::environment)?;
    // Only the threads that probe need what they were given.
    let _ = drop_realtime_priority();
    terminal::note(&welcome(&plan, &store));
    tell_blind(&plan);
    let page = page::start(args.listen, &plan, &store, monitor.live())?;
    let mut pusher = push::start(&plan, &store)?;
    run_until_told((&mut monitor, &mut pusher, &office), &source, &plan, &signals);
    drop(page);
    push::tell(&pusher, &monitor);
    pusher.stop();
    let problems = monitor.stop();
    office.close();
    problems.iter().for_each(|problem| terminal::note(&format!("fathom watch: {problem}")));
    if problems.is_empty() { Ok(Exit::Healthy) } else { Ok(Exit::Environment) }
}

fn open(store: &Path) -> Result<History, Failure> {
    let opened = History::open(store, &HistoryConfig::default());
    let (history, repairs) = opened.map_err(Failure::environment)?;
    for repair in &repairs {
        terminal::note(&format!("fathom watch: {}", Repair::to_string(repair)));
    }
    Ok(history)
}

fn welcome(plan: &Plan, store: &Path) -> String {
    format!(
        "fathom watch: {} targets, {:.1} packets/s; history in {}\nCtrl-C stops it, SIGHUP reads the configuration again",
        plan.targets.len(),
        plan.packets_per_second(),
        store.display()
    )
}

/// An alert that can never be raised looks like a line that is always well.
fn tell_blind(plan: &Plan) {
    let needs_load = |rule: &&Rule| matches!(rule.condition, Condition::Bufferbloat { .. });
    let blind = plan.alerts.iter().find(needs_load).zip(unknown_load(plan));
    if let Some((rule, why)) = blind {
        terminal::note(&format!(
            "fathom watch: alert \"{}\" is not judged: it needs this host's throughput, and {why}\n  try: interface = \"eth0\" under [watch], with the interface that leads to the line",
            rule.name
        ));
    }
}

fn run_until_told(
    (monitor, pusher, office): (&mut Monitor, &mut Pusher, &Office),
    source: &Source,
    first: &Plan,
    signals: &WatchSignals,
) {
    let (mut told, mut told_at) = (Health::default(), Instant::now());
    while !signals.stop.load(Ordering::Relaxed) {
        // A signal ends it.
        let _ = poll::wait(&mut [], Some(LOOK_EVERY));
        if signals.reload.swap(false, Ordering::Relaxed) {
            reload((monitor, pusher, office), source, first);
        }
        push::tell(pusher, monitor);
        office.tell(monitor);
        for problem in monitor.problems() {
            terminal::note(&format!("fathom watch: {problem}"));
        }
        if told_at.elapsed() >= TELL_EVERY {
            (told, told_at) = (tell(told, monitor.health()), Instant::now());
        }
    }
}

/// A plan with a mistake changes nothing: what runs goes on.
fn reload((monitor, pusher, office): (&mut Monitor, &mut Pusher, &Office), source: &Source, first: &Plan) {
    let plan = checked(source).and_then(|plan| {
        permitted(&plan).map_err(Failure::environment)?;
        confined::refusal(first, &plan).map_or(Ok(plan), |refusal| Err(Failure::environment(refusal)))
    });
    match plan {
        Ok(plan) => {
            office.reload(&plan);
            let changes = monitor.reload(&plan);
            push::reload(pusher, &plan);
            terminal::note(&format!(
                "fathom watch: read {source} again: {} targets go on, {} started, {} stopped",
                changes.unchanged, changes.started, changes.stopped
            ));
            tell_blind(&plan);
            if fixed(&plan) != fixed(first) {
                terminal::note(
                    "fathom watch: store, listen, password_file, hosts, results and seed stay as they were until the next start",
                );
            }
        }
        Err(failure) => terminal::note(&format!(
            "fathom watch: {failure}\n  nothing is changed; the plan before it goes on"
        )),
    }
}

/// What stays as it was at the start.
fn fixed(plan: &Plan) -> impl PartialEq {
    (&plan.store, plan.listen, &plan.password_file, &plan.hosts, &plan.results, plan.seed)
}

/// Says what spoilt measurements since it last did.
fn tell(before: Health, now: Health) -> Health {
    let lines = [
        (
            now.missed - before.missed,
            "probes were not sent in time and left out: this host was too busy, or asleep",
        ),
        (
            now.unstamped - before.unstamped,
            "packets had no timestamp of the kernel, or left while this host was busy: they were timed by the program",
        ),
        (
            now.strangers - before.strangers,
            "ICMP answers came from where nothing was asked, and were not counted",
        ),
    ];
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        terminal::note(&format!("fathom watch: {count} {what}"));
    }
    now
}
