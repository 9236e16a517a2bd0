//! `fathom sim sweep`: a scenario over many parameters and seeds.
use crate::args::SweepArgs;
use crate::command::sim::simulate;
use crate::failure::{Exit, Failure, Outcome};
use crate::{line, signal, terminal};
use fathom_os::clock::Clock;
use fathom_run::Measure;
use fathom_scenario::{Plan, ScenarioError, Setting};
use fathom_sweep::{Grid, Progress, Sweep, write_parquet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Columns of a sweep that names none.
const USUAL: [&str; 8] = [
    "udp_rtt_s p50 while idle",
    "udp_rtt_s p50",
    "udp_rtt_s p95",
    "udp_rtt_s max",
    "goodput_bits_per_second up mean",
    "goodput_bits_per_second down mean",
    "queue_drops_packets last",
    "queue_marks_packets last",
];
/// Packets through the line that one thread simulates in a second, at the least: for the estimate before the start.
const PACKETS_PER_SECOND: f64 = 1e6;
/// A sweep that will take longer needs `--yes`.
const LONG_S: f64 = 3600.0;
/// Most cells: more than this no table holds.
const MAX_CELLS: u64 = 100_000_000;

/// Runs what the table lacks, and makes the other forms of it.
pub(crate) fn run(args: &SweepArgs) -> Outcome {
    let (tables, others): (Vec<_>, Vec<_>) = args.output.iter().partition(|path| ends(path, ".csv"));
    let table = match tables[..] {
        [table] => table.clone(),
        [] => PathBuf::from("sweep.csv"),
        _ => return Err(Failure::input("-o: one .csv file is enough")),
    };
    if let Some(other) = others.iter().find(|path| !ends(path, ".parquet") && !ends(path, ".html")) {
        let other = other.display();
        return Err(Failure::input(format_args!("{other}: unknown ending (known: .csv .parquet .html)")));
    }
    let grid = Grid { axes: args.vary.clone(), seeds: seeds(&args.seeds)? };
    let measures = measures(args)?;
    let text = line::text(&args.scenario)?;
    let plan = |settings: &[Setting]| plan(&text, args, settings);
    check_cost(args, &grid, &plan)?;
    if args.restart {
        remove(&table)?;
    }
    let simulate = |cell: &Plan, seed: u64| {
        let simulated = simulate(cell, seed);
        (simulated.run, simulated.digest)
    };
    let sweep = Sweep { grid: &grid, measures: &measures, plan: &plan, simulate: &simulate };
    let share = shard(args.shard.as_deref())?;
    let threads = args.jobs.map_or_else(cores, usize::from);
    let stop = signal::stop_flag()?;
    let mut bar = Bar::new();
    let rows = sweep.run(&table, share, threads, &stop, &mut |progress| bar.show(progress));
    bar.end();
    let rows = rows.map_err(|e| match e {
        fathom_sweep::SweepError::Scenario { .. } => Failure::input(e),
        fathom_sweep::SweepError::Table(_) => Failure::environment(e),
    })?;
    for other in others {
        convert(&table, other, &grid)?;
    }
    terminal::print(&format!("{}: {rows} rows\n", table.display()))?;
    Ok(Exit::Healthy)
}

fn ends(path: &Path, ending: &str) -> bool {
    path.to_string_lossy().ends_with(ending)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// `7` or `1..10`, both ends included.
fn seeds(text: &str) -> Result<Vec<u64>, Failure> {
    let refuse = || Failure::input(format_args!("--seeds \"{text}\": expected a number, or FROM..TO"));
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
    USUAL.iter().map(|text| text.parse().map_err(Failure::input)).collect()
}

/// The plan of a cell; the key `queue` stands for every bottleneck's queue.
fn plan(text: &line::Text, args: &SweepArgs, settings: &[Setting]) -> Result<Plan, ScenarioError> {
    let (queues, settings): (Vec<_>, Vec<_>) = settings.iter().cloned().partition(|s| s.path == "queue");
    let mut change = args.change.clone();
    change.set.extend(settings);
    if let Some(queue) = queues.last() {
        let queue = queue.value.parse().map_err(|e| text.error(&format!("queue: {e}")))?;
        change.queue = Some(queue);
    }
    text.plan(&change)
}

/// Says what the sweep will cost, and refuses one that takes long by mistake.
fn check_cost(
    args: &SweepArgs,
    grid: &Grid,
    plan: &dyn Fn(&[Setting]) -> Result<Plan, ScenarioError>,
) -> Result<(), Failure> {
    let cells = grid.len().filter(|cells| *cells <= MAX_CELLS).ok_or_else(|| {
        Failure::input(format_args!(
            "more than {MAX_CELLS} cells\n  try: fewer values with --vary, or fewer --seeds"
        ))
    })?;
    // The ends of the axes: cost grows with rates, which are ranges more often than not.
    let ends = [0, cells.saturating_sub(1)].map(|index| grid.cell(index).0);
    let costs = ends.iter().map(|settings| plan(settings).map(|plan| fathom_sim::packets(&plan)));
    let costs: Vec<f64> = costs.collect::<Result<_, _>>().map_err(Failure::input)?;
    let each = costs.iter().sum::<f64>() / costs.len() as f64 / PACKETS_PER_SECOND;
    let threads = args.jobs.map_or_else(cores, usize::from) as f64;
    let all = each * cells as f64 / threads;
    terminal::note(&format!(
        "fathom sim sweep: {cells} cells, at most {} on {threads} threads",
        lasting(all)
    ));
    if all > LONG_S && !args.yes {
        return Err(Failure::input(format_args!(
            "that is more than {}\n  try: fewer cells, a shorter duration, lower rates, --shard on several machines, or --yes",
            lasting(LONG_S)
        )));
    }
    Ok(())
}

/// A long time for a person.
fn lasting(seconds: f64) -> String {
    let units = [(86_400.0 * 365.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= *unit);
    unit.map_or_else(
        || format!("{} s", seconds.ceil()),
        |(unit, name)| format!("{:.1} {name}", seconds / unit),
    )
}

/// `I/N`, I from 0.
fn shard(text: Option<&str>) -> Result<(u64, u64), Failure> {
    let Some(text) = text else { return Ok((0, 1)) };
    let parsed = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parsed.filter(|(i, n)| i < n).ok_or_else(|| {
        Failure::input(format_args!("--shard \"{text}\": expected I/N with I from 0 to N-1, such as 0/4"))
    })
}

fn remove(table: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(table) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::environment(format_args!("{}: {error}", table.display())))
        }
        _ => Ok(()),
    }
}

fn convert(table: &Path, to: &Path, grid: &Grid) -> Result<(), Failure> {
    let refuse =
        |error: &dyn std::fmt::Display| Failure::environment(format_args!("{}: {error}", to.display()));
    if ends(to, ".parquet") {
        write_parquet(table, to, grid.key_columns().len()).map_err(|e| refuse(&e))?;
    } else {
        let rows = fathom_sweep::read_rows(table).map_err(|e| refuse(&e))?;
        let page = fathom_report::sweep_page(&rows, grid.key_columns().len());
        fathom_store::write(to, &page).map_err(Failure::environment)?;
    }
    terminal::note(&format!("wrote {}", to.display()));
    Ok(())
}

/// Progress with the time left, on a terminal alone.
struct Bar {
    clock: Clock,
    is_terminal: bool,
    drawn: u64,
}

impl Bar {
    fn new() -> Self {
        Bar { clock: Clock::start(), is_terminal: std::io::stderr().is_terminal(), drawn: 0 }
    }
    fn show(&mut self, progress: Progress) {
        let now = self.clock.now().as_secs_f64() * 1e3;
        // Ten times a second.
        if !self.is_terminal || (now as u64) / 100 == self.drawn {
            return;
        }
        self.drawn = now as u64 / 100;
        let (done, fresh) = (progress.done as f64, (progress.done - progress.begun).max(1) as f64);
        let left = (progress.total as f64 - done) * now / 1e3 / fresh;
        let share = done / progress.total as f64;
        let full = (share * 30.0) as usize;
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(30 - full));
        let percent = share * 100.0;
        let _ = write!(std::io::stderr(), "\r[{bar}] {percent:3.0} %, {} left   ", lasting(left));
    }
    fn end(&self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
