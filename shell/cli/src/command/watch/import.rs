//! `fathom watch import smokeping`: imports configuration and history.
use crate::args::WatchSmokepingArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_text::counted;
use fathom_watch_app::{Conversion, ImportEvent, ImportOutcome, convert, directory, import_databases};

pub(crate) fn run(args: &WatchSmokepingArgs, console: Console) -> Outcome {
    let name = args.output.as_ref().map_or("stdout".into(), |path| path.display().to_string());
    let mut notes = 0;
    let conversion = convert(&args.config, &name, &mut |note| {
        notes += 1;
        warn(&note);
    })?;
    let Conversion { imported, plan } = &conversion;
    console.note(&format!(
        "{}: {}, {}, {}, {:.1} packets/s; {} above",
        args.config.display(),
        counted(imported.targets.len() as u64, "target", "targets"),
        counted(plan.alerts.len() as u64, "alert", "alerts"),
        counted(plan.receivers.len() as u64, "receiver", "receivers"),
        plan.packets_per_second(),
        counted(notes, "note", "notes"),
    ));
    match &args.output {
        _ if args.dry_run => {}
        Some(path) => conversion.save(path)?,
        None => terminal::print(&imported.toml)?,
    }
    match (&args.rrd, &imported.datadir) {
        (Some(rrd), _) => {
            let store = (!args.dry_run).then(|| directory(args.store.as_deref(), Some(plan))).transpose()?;
            let outcome = import_databases(&conversion, rrd, store.as_deref(), &mut |event| {
                report(&event, console);
            })?;
            console.note(&summary(&outcome));
        }
        (None, Some(datadir)) => {
            console.note(&format!("the history is not imported; try: --rrd {datadir}"));
        }
        (None, None) => {}
    }
    Ok(Exit::Healthy)
}

fn report(event: &ImportEvent, console: Console) {
    match event {
        ImportEvent::Progress { .. } => console.progress(&text(event)),
        _ => warn(&text(event)),
    }
}

fn text(event: &ImportEvent) -> String {
    match event {
        ImportEvent::Repaired(repair) => format!("fathom watch: {repair}"),
        ImportEvent::NoDatabase { path, target } => {
            format!("{}: target {target} has no database", path.display())
        }
        ImportEvent::NotImported { path, why } => format!("{}: {why}", path.display()),
        ImportEvent::LeftOut { path, is_of_slave } => {
            let why = if *is_of_slave { "belongs to a slave" } else { "belongs to no imported target" };
            format!("{}: not imported: {why}", path.display())
        }
        ImportEvent::Progress { done, total, samples } => {
            format!(
                "{done} of {}, {}",
                counted(*total as u64, "database", "databases"),
                counted(*samples, "sample", "samples")
            )
        }
    }
}

fn summary(outcome: &ImportOutcome) -> String {
    let ImportOutcome { databases, bytes, samples, written } = outcome;
    let head = format!(
        "{} of {bytes} bytes: {}",
        counted(*databases, "database", "databases"),
        counted(*samples, "sample", "samples")
    );
    match written {
        None => format!("{head}; nothing was written (--dry-run)"),
        Some(written) => format!(
            "{head}; {} imported in {:.1} s, {} already present, {} too old to keep; the history has {} bytes",
            written.summary.samples,
            written.took.as_secs_f64(),
            written.summary.known,
            written.summary.out_of_time,
            written.history_bytes
        ),
    }
}
