//! `fathom watch verify`, `repair` and `backup`.
use super::HistoryWords;
use crate::args::{StoreArgs, WatchBackupArgs};
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, warn};
use fathom_text::counted;
use fathom_watch_app::{Recovered, RepairEvent, back_up, repair, verify};
use std::path::Path;

pub(super) fn run_verify(args: &StoreArgs) -> Outcome {
    let (directory, verified) = verify(&args.source())?;
    verified.problems.iter().for_each(|problem| warn(&format!("fathom watch: {problem}")));
    let rows = counted(verified.rows, "row", "rows");
    let directory = directory.display();
    if verified.problems.is_empty() {
        terminal::print(&format!("{directory}: {rows}, no damage\n"))?;
        return Ok(Exit::Healthy);
    }
    let problems = counted(verified.problems.len() as u64, "problem", "problems");
    let words = HistoryWords::new(args);
    terminal::print(&format!(
        "{directory}: {problems} in {rows}\n  try: fathom watch repair{}\n",
        words.flags()
    ))?;
    Ok(Exit::Bloated)
}

pub(super) fn run_repair(args: &StoreArgs) -> Outcome {
    let (mut done, mut failed) = (0_u64, false);
    let directory = repair(&args.source(), &mut |event| {
        done += 1;
        failed |= matches!(event, RepairEvent::NotRecovered(..));
        warn(&format!("fathom watch: {}", line(&event)));
    })?;
    let what = match done {
        0 => "no damage".to_owned(),
        _ => counted(done, "item was damaged", "items were damaged"),
    };
    terminal::print(&format!("{}: {what}\n", directory.display()))?;
    Ok(if failed { Exit::Environment } else { Exit::Healthy })
}

fn line(event: &RepairEvent) -> String {
    match event {
        RepairEvent::Repaired(repair) => repair.to_string(),
        RepairEvent::NotRecovered(path, error) => format!("{} stays: {error}", path.display()),
        RepairEvent::Recovered(path, recovered) => recovered_line(path, recovered),
    }
}

fn recovered_line(path: &Path, recovered: &Recovered) -> String {
    let Recovered { samples, events, faults, kept } = recovered;
    let mut text = format!(
        "{}: recovered {} and {}; {} were known, {} too old or too recent; kept as {}",
        path.display(),
        counted(samples.samples, "sample", "samples"),
        counted(*events, "event", "events"),
        samples.known,
        samples.out_of_time,
        kept.display(),
    );
    for fault in faults {
        text += &format!("\n  {fault}");
    }
    text
}

pub(super) fn run_backup(args: &WatchBackupArgs) -> Outcome {
    back_up(&args.history.source(), &args.output)?;
    terminal::print(&format!(
        "wrote {}: to restore it, make it history.db of a directory\n",
        args.output.display()
    ))?;
    Ok(Exit::Healthy)
}
