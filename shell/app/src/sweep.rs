//! Simulates a scenario over many parameters and seeds on all CPUs, and writes the results to a
//! table, or to the files of a folder, which other processes can simulate too.

mod folder;

pub use fathom_sweep::{Description, Folder, Progress, Shard, SweepError};
pub use folder::{describe, open, part, run_folder};

use crate::scenario::{Changes, ScenarioText};
use crate::sim::simulate;
use crate::{AppError, CancelToken};
use fathom_run::Measure;
use fathom_scenario::{Grid, Plan, ScenarioError, Setting};
use fathom_sweep::{Sweep, read_rows, write_parquet};
use std::path::{Path, PathBuf};

/// Default measures of a sweep.
pub const USUAL_MEASURES: [&str; 8] = [
    "udp_rtt_s p50 while idle",
    "udp_rtt_s p50",
    "udp_rtt_s p95",
    "udp_rtt_s max",
    "goodput_bits_per_second up mean",
    "goodput_bits_per_second down mean",
    "queue_drops_packets last",
    "queue_marks_packets last",
];
/// Packets that one thread simulates per second, at least. Used to estimate the duration of a
/// sweep.
const PACKETS_PER_SECOND: f64 = 1e6;
/// Maximum number of cells in a table.
pub const MAX_CELLS: u64 = 100_000_000;

/// A request for a sweep.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// The scenario.
    pub scenario: ScenarioText,
    /// Changes in every cell.
    pub changes: Changes,
    /// The cells. The key `queue` is the queue of every bottleneck.
    pub grid: Grid,
    /// The measures, one per column.
    pub measures: Vec<Measure>,
    /// The table, as CSV, or the folder.
    pub table: PathBuf,
    /// The cells of this process.
    pub shard: Shard,
    /// Number of threads.
    pub threads: usize,
}

/// Maximum cost of a sweep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Number of cells.
    pub cells: u64,
    /// Time for all cells, in seconds.
    pub seconds: f64,
}

impl SweepRequest {
    /// The changes of a cell.
    fn changes(&self, settings: &[Setting]) -> Result<Changes, ScenarioError> {
        let (queues, settings): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|setting| setting.path == "queue");
        let mut changes = self.changes.clone();
        changes.settings.extend(settings);
        if let Some(queue) = queues.last() {
            let queue = queue.value.parse().map_err(|e| self.scenario.error(&format!("queue: {e}")))?;
            changes.queue = Some(queue);
        }
        Ok(changes)
    }
    /// The plan of a cell.
    fn plan(&self, settings: &[Setting]) -> Result<Plan, ScenarioError> {
        self.scenario.plan(&self.changes(settings)?)
    }
    /// Number of cells.
    fn cells(&self) -> Result<u64, AppError> {
        let cells = self.grid.len().filter(|cells| *cells <= MAX_CELLS);
        cells.ok_or(AppError::TooManyCells { max: MAX_CELLS })
    }
    /// Packets of a cell, at most.
    fn packets(&self, cells: u64) -> Result<f64, ScenarioError> {
        // The cost grows with rates, which are often ranges: both ends of the axes are estimated.
        let ends = [0, cells.saturating_sub(1)].map(|index| self.grid.cell(index).0);
        let costs = ends.iter().map(|settings| self.plan(settings).map(|plan| fathom_sim::packets(&plan)));
        let costs: Vec<f64> = costs.collect::<Result<_, _>>()?;
        Ok(costs.iter().sum::<f64>() / costs.len() as f64)
    }
}

/// Estimates the maximum cost of a sweep.
///
/// # Errors
/// If there are too many cells, or a cell at an end of the axes is not a valid scenario.
pub fn cost(request: &SweepRequest) -> Result<Cost, AppError> {
    let cells = request.cells()?;
    let each = request.packets(cells)? / PACKETS_PER_SECOND;
    Ok(Cost { cells, seconds: each * cells as f64 / request.threads as f64 })
}

/// Runs the cells that the table lacks. Returns the number of rows in the table.
///
/// # Errors
/// The first error. The rows of earlier cells are in the table.
pub fn run(
    request: &SweepRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, AppError> {
    // A row is whole or not written: Ctrl-C does not interrupt a cell.
    let never = CancelToken::new();
    with_sweep(request, &never, |sweep| {
        Ok(sweep.run(&request.table, request.shard, request.threads, cancel.flag(), progress)?)
    })
}

/// Calls `run` with the sweep of a request, whose cells are simulated until `cancel`.
fn with_sweep<T>(request: &SweepRequest, cancel: &CancelToken, run: impl FnOnce(&Sweep<'_>) -> T) -> T {
    let plan = |settings: &[Setting]| request.plan(settings);
    let simulate = |cell: &Plan, seed: u64| {
        let simulated = simulate(cell, seed, cancel);
        (simulated.run, simulated.digest)
    };
    run(&Sweep { grid: &request.grid, measures: &request.measures, plan: &plan, simulate: &simulate })
}

/// Removes the table of an earlier sweep, or the files of a folder.
///
/// # Errors
/// If it exists and cannot be removed.
pub fn remove(table: &Path) -> Result<(), AppError> {
    if table.is_dir() {
        return Ok(Folder::remove(table).map_err(SweepError::Table)?);
    }
    match std::fs::remove_file(table) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(AppError::Unwritable { path: table.to_owned(), reason: error.to_string() })
        }
        _ => Ok(()),
    }
}

/// Writes the table in another format. The extension of `to` selects it: `.parquet`, otherwise a
/// page.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written.
pub fn convert(table: &Path, to: &Path, grid: &Grid) -> Result<(), AppError> {
    let refuse = |error: &dyn std::fmt::Display| AppError::Unwritable {
        path: to.to_owned(),
        reason: error.to_string(),
    };
    let keys = grid.key_columns().len();
    if to.to_string_lossy().ends_with(".parquet") {
        return write_parquet(table, to, keys).map_err(|e| refuse(&e));
    }
    let rows = read_rows(table).map_err(|e| refuse(&e))?;
    fathom_store::write(to, &fathom_report::sweep_page(&rows, keys)).map_err(AppError::Save)
}
