//! Runs the cells on several threads, and writes their rows in order.
use crate::columnar::parquet_of;
use crate::table::{Table, TableError};
use crate::{Progress, Shard};
use fathom_run::{Measure, Run};
use fathom_scenario::{Grid, Plan, ScenarioError, Setting};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A sweep.
pub struct Sweep<'a> {
    /// The cells.
    pub grid: &'a Grid,
    /// The measures, one per column.
    pub measures: &'a [Measure],
    /// The plan of a cell.
    pub plan: &'a (dyn Fn(&[Setting]) -> Result<Plan, ScenarioError> + Sync),
    /// Simulates a plan with a seed. Returns the run and its digest.
    pub simulate: &'a (dyn Fn(&Plan, u64) -> (Run, u64) + Sync),
}

/// The row of a cell.
pub(crate) struct Row {
    pub(crate) key: Vec<String>,
    pub(crate) measured: Vec<Option<f64>>,
    pub(crate) digest: String,
}

impl Row {
    /// The values of the columns. An empty value is missing.
    fn texts(self) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        let measured = self.measured.into_iter().map(number);
        self.key.into_iter().chain(measured).chain([self.digest]).collect()
    }
}

/// Why a sweep failed. Rows that were already written are kept.
#[derive(Debug)]
pub enum SweepError {
    /// The settings of a cell are not a valid scenario.
    Scenario {
        /// The settings.
        cell: String,
        /// The reason.
        error: ScenarioError,
    },
    /// The table or the folder cannot be read or written.
    Table(TableError),
}

impl std::fmt::Display for SweepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SweepError::Scenario { cell, error } => write!(f, "{error}\n  in the cell {cell}"),
            SweepError::Table(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for SweepError {}

impl Sweep<'_> {
    /// The columns of the table: the cell, its measures, and the digest.
    pub fn columns(&self) -> Vec<String> {
        let measures = self.measures.iter().map(ToString::to_string);
        self.grid.key_columns().into_iter().chain(measures).chain(["digest".to_owned()]).collect()
    }

    /// Runs the cells of `shard` that the table at `path` lacks, on `threads` threads, until done
    /// or cancelled. Returns the number of rows in the table.
    ///
    /// # Errors
    /// The first error. The rows of earlier cells are in the table.
    pub fn run(
        &self,
        path: &Path,
        shard: Shard,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64, SweepError> {
        let index = |row: u64| shard.index + row * shard.count;
        let total = (self.grid.len().unwrap_or(u64::MAX).saturating_sub(shard.index)).div_ceil(shard.count);
        let key = |row| self.grid.key(index(row));
        let mut table = Table::open(path, &self.columns(), key).map_err(SweepError::Table)?;
        let begun = table.rows();
        let next = AtomicU64::new(begun);
        let cancelled = AtomicBool::new(false);
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                let take = || {
                    let ended = cancel.load(Ordering::Relaxed) || cancelled.load(Ordering::Relaxed);
                    // Every number that a thread takes is simulated: otherwise a row would be
                    // missing in the table.
                    let row = (!ended).then(|| next.fetch_add(1, Ordering::Relaxed));
                    row.filter(|row| *row < total)
                };
                scope.spawn(move || self.work(take, index, &sender));
            }
            drop(sender);
            let written = write_in_order(&mut table, &receiver, |rows| {
                progress(Progress { done: rows, begun, total });
            });
            cancelled.store(true, Ordering::Relaxed);
            written
        })?;
        Ok(table.rows())
    }

    /// The rows of these cells as a Parquet file, or nothing if asked to stop. Its bytes depend on
    /// the cells only.
    ///
    /// # Errors
    /// If the settings of a cell are not a valid scenario.
    pub fn part(&self, cells: Range<u64>, stop: &dyn Fn() -> bool) -> Result<Option<Vec<u8>>, SweepError> {
        let mut rows = Vec::new();
        for index in cells {
            rows.push(self.cell(index)?);
            if stop() {
                return Ok(None);
            }
        }
        let bytes = parquet_of(&self.columns(), &rows);
        bytes.map(Some).map_err(|error| SweepError::Table(TableError::Io("(memory)".into(), error)))
    }

    /// The loop of one thread.
    fn work(
        &self,
        take: impl Fn() -> Option<u64>,
        index: impl Fn(u64) -> u64,
        sender: &Sender<(u64, Result<Row, SweepError>)>,
    ) {
        while let Some(row) = take() {
            if sender.send((row, self.cell(index(row)))).is_err() {
                return;
            }
        }
    }

    /// The row of cell `index`.
    fn cell(&self, index: u64) -> Result<Row, SweepError> {
        let (settings, seed) = self.grid.cell(index);
        let plan = (self.plan)(&settings).map_err(|error| {
            let cell =
                settings.iter().map(|s| format!("{}={}", s.path, s.value)).collect::<Vec<_>>().join(" ");
            SweepError::Scenario { cell, error }
        })?;
        let (run, digest) = (self.simulate)(&plan, seed);
        let measured = self.measures.iter().map(|measure| measure.of(&run)).collect();
        Ok(Row { key: self.grid.key(index), measured, digest: format!("{digest:016x}") })
    }
}

/// Writes rows in the order of their numbers. They arrive in any order.
fn write_in_order(
    table: &mut Table,
    rows: &Receiver<(u64, Result<Row, SweepError>)>,
    mut written: impl FnMut(u64),
) -> Result<(), SweepError> {
    let mut early = BTreeMap::new();
    for (number, row) in rows {
        early.insert(number, row);
        while let Some(next) = early.remove(&table.rows()) {
            table.push(&next?.texts()).map_err(SweepError::Table)?;
            written(table.rows());
        }
    }
    Ok(())
}
