//! `fathom watch`: monitors targets.
mod diagnose;
mod enroll;
mod events;
mod export;
mod import;
mod replay;
mod status;
mod test_alert;
mod upkeep;

use crate::args::{StoreArgs, WatchAction, WatchArgs, WatchImport};
use crate::failure::{Exit, Outcome};
use crate::help::refuse_misspelt;
use crate::result::quoted;
use crate::signal::{WatchSignals, watch_signals};
use crate::terminal::{self, Console, warn};
use fathom_prose::HistoryOrigin;
use fathom_text::counted;
use fathom_watch_app::{self as watch, Source, WatchRequest, check_permission, checked, directory};
use std::path::Path;
use std::sync::Arc;

/// Runs the watch, or one of its subcommands.
pub(crate) fn run(args: &WatchArgs, console: Console) -> Outcome {
    match &args.action {
        Some(WatchAction::Check(check)) => self::check(&Source::File(check.config.clone())),
        Some(WatchAction::Enroll(wanted)) => enroll::run(wanted, console),
        Some(WatchAction::Status(status)) => status::run(status, console),
        Some(WatchAction::Alerts(wanted)) => replay::run(wanted),
        Some(WatchAction::TestAlert(wanted)) => test_alert::run(wanted),
        Some(WatchAction::Diagnose(wanted)) => diagnose::run(wanted, console),
        Some(WatchAction::Export(wanted)) => export::run(wanted, console),
        Some(WatchAction::Verify(wanted)) => upkeep::run_verify(&wanted.history),
        Some(WatchAction::Repair(wanted)) => upkeep::run_repair(&wanted.history),
        Some(WatchAction::Backup(wanted)) => upkeep::run_backup(wanted),
        Some(WatchAction::Import { from: WatchImport::Smokeping(from) }) => import::run(from, console),
        None => watch(args, console),
    }
}

/// The flags that locate a history, as a shell reads them.
struct HistoryWords {
    config: Option<String>,
    store: Option<String>,
}

impl HistoryWords {
    fn new(args: &StoreArgs) -> Self {
        let word = |path: &Path| quoted(&path.to_string_lossy());
        HistoryWords { config: args.config.as_deref().map(word), store: args.store.as_deref().map(word) }
    }
    /// The flags with a blank before them.
    fn flags(&self) -> String {
        let config = self.config.as_ref().map(|config| format!(" {config}"));
        config.or_else(|| self.store.as_ref().map(|store| format!(" --store {store}"))).unwrap_or_default()
    }
    fn origin(&self) -> HistoryOrigin<'_> {
        HistoryOrigin { config: self.config.as_deref(), store: self.store.as_deref() }
    }
}

fn check(source: &Source) -> Outcome {
    let plan = checked(source)?;
    let hosts: std::collections::BTreeSet<&str> = plan.targets.iter().map(|t| t.host.as_str()).collect();
    let series: usize = plan.targets.iter().map(|t| t.series().len()).sum();
    terminal::print(&format!(
        "{source}: {} on {}, up to {series} series, {:.1} packets/s: no errors\n",
        counted(plan.targets.len() as u64, "target", "targets"),
        counted(hosts.len() as u64, "host", "hosts"),
        plan.packets_per_second(),
    ))?;
    check_permission(&plan)?;
    Ok(Exit::Healthy)
}

fn watch(args: &WatchArgs, console: Console) -> Outcome {
    let WatchSignals { stop, reload } = watch_signals()?;
    if let Some(config) = &args.config {
        refuse_misspelt("watch", &config.to_string_lossy())?;
    }
    let source = args.config.clone().map_or_else(|| Source::Hosts(args.target.clone()), Source::File);
    let plan = checked(&source)?;
    check_permission(&plan)?;
    let store = directory(args.store.as_deref(), Some(&plan))?;
    let request = WatchRequest { source, plan, store, listen: args.listen };
    let shown = request.clone();
    let events: watch::Events = Arc::new(move |event| events::report(&event, &shown, console));
    let problems = watch::run(&request, &stop.into(), &reload, &events)?;
    problems.iter().for_each(|problem| warn(&format!("fathom watch: {problem}")));
    if problems.is_empty() { Ok(Exit::Healthy) } else { Ok(Exit::Environment) }
}
