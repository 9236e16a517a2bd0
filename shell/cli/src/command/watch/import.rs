//! `fathom watch import smokeping`.
use crate::args::WatchSmokepingArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_app::watch::{Conversion, ImportEvent, ImportOutcome, convert, directory, import_databases};

pub(crate) fn run(args: &WatchSmokepingArgs) -> Outcome {
    let name = args.output.as_ref().map_or("stdout".into(), |path| path.display().to_string());
    let mut notes = 0;
    let conversion = convert(&args.config, &name, &mut |note| {
        notes += 1;
        terminal::note(&note);
    })?;
    let Conversion { imported, plan } = &conversion;
    terminal::note(&format!(
        "{}: {} targets, {} alerts, {} receivers, {:.1} packets/s; {notes} notes above",
        args.config.display(),
        imported.targets.len(),
        plan.alerts.len(),
        plan.receivers.len(),
        plan.packets_per_second(),
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
                terminal::note(&text(&event));
            })?;
            terminal::note(&summary(&outcome));
        }
        (None, Some(datadir)) => {
            terminal::note(&format!("its history was left where it is: --rrd {datadir} brings it over"));
        }
        (None, None) => {}
    }
    Ok(Exit::Healthy)
}

fn text(event: &ImportEvent) -> String {
    match event {
        ImportEvent::Repaired(repair) => format!("fathom watch: {repair}"),
        ImportEvent::NoDatabase { path, target } => {
            format!("{}: there is no database of {target}", path.display())
        }
        ImportEvent::NotImported { path, why } => format!("{}: {why}", path.display()),
        ImportEvent::LeftOut { path, is_of_slave } => {
            let why =
                if *is_of_slave { "is of a slave" } else { "belongs to no target that was carried over" };
            format!("{}: {why}, and was left out", path.display())
        }
        ImportEvent::Progress { done, total, samples } => {
            format!("{done} of {total} databases, {samples} samples")
        }
    }
}

fn summary(outcome: &ImportOutcome) -> String {
    let ImportOutcome { databases, bytes, samples, written } = outcome;
    let head = format!("{databases} databases of {bytes} bytes: {samples} samples");
    match written {
        None => format!("{head}; nothing was written (--dry-run)"),
        Some(written) => format!(
            "{head}; {} brought over in {:.1} s, {} were there before, {} are older than what is kept; the history has {} bytes",
            written.summary.samples,
            written.took.as_secs_f64(),
            written.summary.known,
            written.summary.out_of_time,
            written.history_bytes
        ),
    }
}
