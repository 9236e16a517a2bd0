//! SmokePing's databases into the history.
use crate::failure::Failure;
use crate::terminal;
use fathom_app::watch::open_history;
use fathom_os::clock::wall_now;
use fathom_units::WallTime;
use fathom_watch_import::smokeping::{Imported, ImportedTarget, Rounds, rounds};
use fathom_watch_plan::Plan;
use fathom_watch_store::{Event, History, ImportSummary, Repair, SeriesId, SeriesKey};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often it is told how far it is.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// Links of directories that go round.
const MOST_DEEP: usize = 64;

#[derive(Default)]
struct Sum {
    databases: u64,
    bytes: u64,
    samples: u64,
    summary: ImportSummary,
}

/// Brings over the databases in `rrd`; only counts what there is without a `store`.
pub(super) fn run(rrd: &Path, imported: &Imported, plan: &Plan, store: Option<&Path>) -> Result<(), Failure> {
    let mut left: BTreeSet<PathBuf> = BTreeSet::new();
    find(rrd, 0, &mut left).map_err(|e| {
        Failure::input(format_args!("{}: {e}\n  try: --rrd with the datadir of SmokePing", rrd.display()))
    })?;
    let repaired = &mut |repair: Repair| terminal::note(&format!("fathom watch: {repair}"));
    let mut history = store.map(|store| open_history(store, repaired)).transpose()?;
    let (begun, mut told) = (Instant::now(), Instant::now());
    let mut sum = Sum::default();
    for (place, target) in imported.targets.iter().enumerate() {
        let path = rrd.join(format!("{}.rrd", target.name));
        let was_found = left.remove(&path);
        if !was_found {
            terminal::note(&format!("{}: there is no database of {}", path.display(), target.name));
            continue;
        }
        if let Err(why) = one(&path, target, plan, history.as_mut(), &mut sum) {
            terminal::note(&format!("{}: {why}", path.display()));
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            terminal::note(&format!(
                "{} of {} databases, {} samples",
                place + 1,
                imported.targets.len(),
                sum.samples
            ));
        }
    }
    for path in &left {
        let is_slave = path.to_string_lossy().contains('~');
        let why = if is_slave { "is of a slave" } else { "belongs to no target that was carried over" };
        terminal::note(&format!("{}: {why}, and was left out", path.display()));
    }
    finish(&sum, history, begun.elapsed())
}

/// All databases in a directory and those in it.
fn find(dir: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && depth < MOST_DEEP {
            find(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|end| end == "rrd") {
            found.insert(path);
        }
    }
    Ok(())
}

fn one(
    path: &Path,
    target: &ImportedTarget,
    plan: &Plan,
    history: Option<&mut History>,
    sum: &mut Sum,
) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let rounds = rounds(&fathom_watch_import::rrd::read(&bytes).map_err(|e| e.to_string())?)?;
    sum.databases += 1;
    sum.bytes += bytes.len() as u64;
    sum.samples += rounds.samples.len() as u64;
    let Some(history) = history else { return Ok(()) };
    let asked = plan.targets.iter().find(|t| t.name == target.name).ok_or("belongs to no target")?;
    let key = SeriesKey {
        target: asked.name.clone(),
        probe: asked.probe.clone(),
        unit: fathom_watch_samples::Unit::Seconds,
    };
    let series = history.series(&key).map_err(|e| e.to_string())?;
    let brought = history.bring_in(series, &rounds.samples, wall_now()).map_err(|e| e.to_string())?;
    sum.summary.samples += brought.samples;
    sum.summary.known += brought.known;
    sum.summary.out_of_time += brought.out_of_time;
    if brought.samples > 0 {
        events(history, series, target, &rounds);
    }
    Ok(())
}

/// What a reader of the plot must know of these samples.
fn events(history: &mut History, series: SeriesId, target: &ImportedTarget, rounds: &Rounds) {
    let mut event = |at, until, text| {
        history.event(&Event {
            at,
            until: Some(until),
            series: Some(series),
            kind: "import".into(),
            text,
            value: None,
        });
    };
    if let Some((from, until)) = rounds.averaged {
        let text = "averages of many rounds, from SmokePing: of each rank by itself, so that high percentiles are too low";
        event(from, until, text.to_owned());
    }
    let ends = rounds.samples.first().zip(rounds.samples.last());
    if let (Some(module), Some((first, last))) = (&target.differs, ends) {
        let wall = |ms: u64| WallTime(ms.saturating_mul(1_000_000));
        let text =
            format!("measured by SmokePing's probe {module}, which times something else than is timed here");
        event(wall(first.at_ms), wall(last.at_ms), text);
    }
}

fn finish(sum: &Sum, history: Option<History>, took: Duration) -> Result<(), Failure> {
    let head = format!("{} databases of {} bytes: {} samples", sum.databases, sum.bytes, sum.samples);
    let Some(mut history) = history else {
        terminal::note(&format!("{head}; nothing was written (--dry-run)"));
        return Ok(());
    };
    let repairs = history.save(wall_now());
    repairs.iter().for_each(|repair| terminal::note(&repair.to_string()));
    let status = history.status();
    if let Some(trouble) = &status.trouble {
        return Err(Failure::environment(&trouble.text));
    }
    terminal::note(&format!(
        "{head}; {} brought over in {:.1} s, {} were there before, {} are older than what is kept; the history has {} bytes",
        sum.summary.samples,
        took.as_secs_f64(),
        sum.summary.known,
        sum.summary.out_of_time,
        status.used.get()
    ));
    Ok(())
}
