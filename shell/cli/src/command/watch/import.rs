//! `fathom watch import smokeping`.
mod history;

use super::store::{store, text_of};
use crate::args::WatchSmokepingArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_watch_import::smokeping::{Imported, import};
use fathom_watch_plan::Plan;
use std::path::Path;

pub(crate) fn run(args: &WatchSmokepingArgs) -> Outcome {
    let file = args.config.display().to_string();
    let imported = import(&file, &mut |name| text_of(Path::new(name))).map_err(Failure::input)?;
    imported.notes.iter().for_each(|note| terminal::note(&note.to_string()));
    if imported.targets.is_empty() {
        return Err(Failure::input(format_args!(
            "{file}: no target can be watched: nothing was written\n  try: the file with *** Targets ***, or the one that includes it"
        )));
    }
    let name = args.output.as_ref().map_or("stdout".into(), |path| path.display().to_string());
    let plan = fathom_watch_plan::parse(&imported.toml, &name).map_err(Failure::input)?;
    tell(&file, &imported, &plan);
    if !args.dry_run {
        write(args.output.as_deref(), &imported.toml)?;
    }
    match (&args.rrd, &imported.datadir) {
        (Some(rrd), _) => {
            let to = if args.dry_run { None } else { Some(store(args.store.as_deref(), &plan)?) };
            history::run(rrd, &imported, &plan, to.as_deref())?;
        }
        (None, Some(datadir)) => {
            terminal::note(&format!("its history was left where it is: --rrd {datadir} brings it over"))
        }
        (None, None) => {}
    }
    Ok(Exit::Healthy)
}

fn tell(file: &str, imported: &Imported, plan: &Plan) {
    terminal::note(&format!(
        "{file}: {} targets, {} alerts, {} receivers, {:.1} packets/s; {} notes above",
        imported.targets.len(),
        plan.alerts.len(),
        plan.receivers.len(),
        plan.packets_per_second(),
        imported.notes.len()
    ));
}

/// A file that somebody has edited since is not written over.
fn write(output: Option<&Path>, toml: &str) -> Result<(), Failure> {
    let Some(path) = output else { return terminal::print(toml) };
    match std::fs::read_to_string(path) {
        Ok(there) if there == toml => return Ok(()),
        Ok(_) => {
            return Err(Failure::input(format_args!(
                "{}: there is a file with other content already\n  try: -o with another name, or move it away",
                path.display()
            )));
        }
        Err(_) => {}
    }
    let written = std::fs::write(path, toml);
    written.map_err(|e| Failure::environment(format_args!("{}: {e}", path.display())))
}
