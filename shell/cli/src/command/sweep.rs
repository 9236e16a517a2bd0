//! `fathom sim sweep`: a scenario over many parameters and seeds.
use crate::args::SweepArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{self, Console, warn};
use fathom_app::scenario::ScenarioText;
use fathom_app::sweep::{self, MAX_CELLS, Progress, Shard, SweepRequest, USUAL_MEASURES};
use fathom_os::clock::Clock;
use fathom_run::Measure;
use fathom_scenario::Grid;
use fathom_text::counted;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A sweep that takes longer needs `--yes`, s.
const LONG_S: f64 = 3600.0;

/// Simulates the rows that the table or the folder lacks, and converts the table to the other
/// formats.
pub(crate) fn run(args: &SweepArgs, console: Console) -> Outcome {
    let (tables, others): (Vec<_>, Vec<_>) = args.output.iter().partition(|path| ends(path, ".csv"));
    let folder = args.output.iter().find(|path| ends(path, "/"));
    let table = match (folder, &tables[..]) {
        (Some(folder), _) if args.output.len() == 1 => folder.clone(),
        (Some(_), _) => return Err(Failure::input("-o: a folder and other files (expected one folder)")),
        (None, [table]) => PathBuf::clone(table),
        (None, []) => PathBuf::from("sweep.csv"),
        _ => return Err(Failure::input("-o: more than one .csv file (expected at most one)")),
    };
    let others = if folder.is_some() { Vec::new() } else { others };
    if let Some(other) = others.iter().find(|path| !ends(path, ".parquet") && !ends(path, ".html")) {
        let other = other.display();
        return Err(Failure::input(format_args!(
            "{other}: unknown extension (known: .csv .parquet .html, / for a folder)"
        )));
    }
    let request = SweepRequest {
        grid: Grid { axes: args.vary.clone(), seeds: seeds(&args.seeds)? },
        measures: measures(args)?,
        scenario: ScenarioText::load(&args.scenario)?,
        changes: args.change.changes(),
        table: table.clone(),
        shard: Shard::WHOLE,
        threads: args.jobs.map_or_else(cores, usize::from),
    };
    check_cost(args, &request, console)?;
    if args.restart {
        sweep::remove(&table)?;
    }
    let request = SweepRequest { shard: shard(args.shard.as_deref())?, ..request };
    let cancel = signal::cancel_token()?;
    let mut bar = Bar::new(console);
    let mut show = |progress| bar.show(progress);
    let rows = match folder {
        Some(_) => sweep::run_folder(&request, args.rows_per_file, &cancel, &mut show),
        None => sweep::run(&request, &cancel, &mut show),
    };
    bar.end();
    let rows = rows?;
    for other in others {
        sweep::convert(&table, other, &request.grid)?;
        console.note(&format!("wrote {}", other.display()));
    }
    terminal::print(&format!("{}: {}\n", table.display(), counted(rows, "row", "rows")))?;
    if cancel.is_cancelled() {
        warn("fathom sim sweep: interrupted: the rows are saved\n  try: the same command again, to resume");
        return Ok(Exit::Environment);
    }
    Ok(Exit::Healthy)
}

fn ends(path: &Path, ending: &str) -> bool {
    path.to_string_lossy().ends_with(ending)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Parses seeds: `7` or `1..10`, both ends included.
fn seeds(text: &str) -> Result<Vec<u64>, Failure> {
    let refuse =
        || Failure::input(format_args!("--seeds \"{text}\": expected a number or FROM..TO, as in 1..10"));
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to): (u64, u64) = (from.parse().map_err(|_| refuse())?, to.parse().map_err(|_| refuse())?);
    if from > to || to - from >= MAX_CELLS {
        return Err(refuse());
    }
    Ok((from..=to).collect())
}

fn measures(args: &SweepArgs) -> Result<Vec<Measure>, Failure> {
    if !args.measure.is_empty() {
        return Ok(args.measure.clone());
    }
    USUAL_MEASURES.iter().map(|text| text.parse().map_err(Failure::input)).collect()
}

/// Prints the expected cost of the sweep, and refuses a long one without `--yes`.
fn check_cost(args: &SweepArgs, request: &SweepRequest, console: Console) -> Result<(), Failure> {
    let cost = sweep::cost(request)?;
    console.note(&format!(
        "fathom sim sweep: {}, at most {} on {}",
        counted(cost.cells, "cell", "cells"),
        lasting(cost.seconds),
        counted(request.threads as u64, "thread", "threads")
    ));
    if cost.seconds > LONG_S && !args.yes {
        return Err(Failure::input(format_args!(
            "the sweep takes longer than {}\n  try: fewer cells, a shorter duration, lower rates, --shard on several machines, or --yes",
            lasting(LONG_S)
        )));
    }
    Ok(())
}

/// A long duration, with one decimal.
fn lasting(seconds: f64) -> String {
    let units = [(86_400.0 * 365.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= *unit);
    unit.map_or_else(
        || format!("{} s", seconds.ceil()),
        |(unit, name)| format!("{:.1} {name}", seconds / unit),
    )
}

/// Parses a shard: `I/N`, with I from 0.
fn shard(text: Option<&str>) -> Result<Shard, Failure> {
    let Some(text) = text else { return Ok(Shard::WHOLE) };
    let parsed = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parsed.filter(|(i, n)| i < n).map(|(index, count)| Shard { index, count }).ok_or_else(|| {
        Failure::input(format_args!("--shard \"{text}\": expected I/N with I from 0 to N-1, such as 0/4"))
    })
}

/// A progress bar with the time left.
struct Bar {
    clock: Clock,
    is_shown: bool,
    drawn: u64,
}

impl Bar {
    fn new(console: Console) -> Self {
        Bar { clock: Clock::start(), is_shown: console.can_redraw(), drawn: 0 }
    }
    fn show(&mut self, progress: Progress) {
        let now = self.clock.now().as_secs_f64() * 1e3;
        // Ten times per second.
        if !self.is_shown || (now as u64) / 100 == self.drawn {
            return;
        }
        self.drawn = now as u64 / 100;
        let (done, fresh) = (progress.done as f64, (progress.done - progress.begun).max(1) as f64);
        let left = (progress.total as f64 - done) * now / 1e3 / fresh;
        let share = done / progress.total as f64;
        let full = (share * 30.0) as usize;
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(30 - full));
        let percent = share * 100.0;
        let _ = write!(std::io::stderr(), "\r[{bar}] {percent:3.0} %, {} left\x1b[K", lasting(left));
    }
    fn end(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
