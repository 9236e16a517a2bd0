//! Sweeps into a folder, which any process can run part by part.
use super::{MAX_CELLS, SweepRequest, with_sweep};
use crate::scenario::{Changes, ScenarioText};
use crate::{AppError, CancelToken, VERSION};
use fathom_scenario::ScenarioError;
use fathom_sweep::{Description, Folder, Progress, Shard, SweepError, run_parts};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Packets of a file, about: 2 s of one thread. That is what a killed process loses.
const PACKETS_PER_FILE: f64 = 2e6;
/// Maximum number of rows of a file by default. Tables with more rows per file are not read faster,
/// and a cluster needs many files to share.
const MAX_ROWS: f64 = 1000.0;
/// Number of files from which on they have more rows, so that folders can be listed.
const MANY_FILES: u64 = 10_000;

/// Describes the sweep of a request. Each value of each axis is checked.
///
/// # Errors
/// If there are too many cells, or a value is not valid.
pub fn describe(request: &SweepRequest, rows_per_file: Option<u64>) -> Result<Description, AppError> {
    let cells = request.cells()?;
    let files = files(request, cells)?;
    let usual = (PACKETS_PER_FILE / request.packets(cells)?).clamp(1.0, MAX_ROWS) as u64;
    let (text, name) = request.scenario.parts();
    let name = Path::new(name).file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    Ok(Description {
        version: VERSION.to_owned(),
        scenario: name,
        text: text.to_owned(),
        files,
        queue: request.changes.queue.as_ref().map(ToString::to_string),
        set: request.changes.settings.iter().map(|s| [s.path.clone(), s.value.clone()]).collect(),
        vary: Description::axes(&request.grid),
        seeds: Description::ranges(&request.grid.seeds),
        measures: request.measures.iter().map(ToString::to_string).collect(),
        cells,
        rows_per_file: rows_per_file.unwrap_or_else(|| usual.max(cells.div_ceil(MANY_FILES))).min(MAX_CELLS),
    })
}

/// The files that the scenario names with any value of any axis.
fn files(request: &SweepRequest, cells: u64) -> Result<BTreeMap<String, String>, ScenarioError> {
    let found = RefCell::new(BTreeMap::new());
    let read = |file: &str| {
        if let Some(text) = found.borrow().get(file) {
            return Ok(String::clone(text));
        }
        let text = request.scenario.read_next_to_it(file)?;
        found.borrow_mut().insert(file.to_owned(), text.clone());
        Ok(text)
    };
    // One axis at a time: as the last axis changes fastest, its cells are the nearest.
    let mut stride = cells;
    for axis in &request.grid.axes {
        let outer = stride;
        stride /= axis.values.len() as u64;
        for cell in (0..outer).step_by(usize::try_from(stride).unwrap_or(usize::MAX)) {
            let changes = request.changes(&request.grid.cell(cell).0)?;
            request.scenario.plan_reading(&changes, &read)?;
        }
    }
    if request.grid.axes.is_empty() {
        request.scenario.plan_reading(&request.changes, &read)?;
    }
    Ok(found.into_inner())
}

/// Opens the folder of a sweep.
///
/// # Errors
/// If it has another sweep, or cannot be read or written.
pub fn open(path: &Path, description: Description) -> Result<Folder, AppError> {
    Ok(Folder::open(path, description).map_err(SweepError::Table)?)
}

/// The request that a description describes.
fn request(description: &Description) -> Result<SweepRequest, AppError> {
    let invalid = |what: &str, error: &dyn std::fmt::Display| ScenarioError {
        file: description.scenario.clone(),
        line: 1,
        what: format!("{what}: {error}"),
    };
    let queue = description.queue.as_deref().map(str::parse).transpose();
    let measures = description.parsed_measures();
    Ok(SweepRequest {
        scenario: ScenarioText::with_files(
            description.text.clone(),
            description.scenario.clone(),
            description.files.clone(),
        ),
        changes: Changes {
            settings: description.settings(),
            queue: queue.map_err(|error| invalid("queue", &error))?,
            plugins: Vec::new(),
        },
        grid: description.grid(),
        measures: measures.map_err(|error| invalid("measures", &error))?,
        table: PathBuf::new(),
        shard: Shard::WHOLE,
        threads: 1,
    })
}

/// Simulates the cells of a file. Returns the bytes of the file, or nothing if cancelled. They
/// depend on the description only, so it does not matter who makes them.
///
/// # Errors
/// If a cell is not a valid scenario.
pub fn part(description: &Description, file: u64, cancel: &CancelToken) -> Result<Option<Vec<u8>>, AppError> {
    let cells = description.cells_of(file);
    let stop = || cancel.is_cancelled();
    with_sweep(&request(description)?, cancel, |sweep| Ok(sweep.part(cells, &stop)?))
}

/// Runs the files that the folder `request.table` lacks, with this number of rows. Returns the
/// number of finished rows.
///
/// # Errors
/// The first error. Files that were already written are kept.
pub fn run_folder(
    request: &SweepRequest,
    rows_per_file: Option<u64>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, AppError> {
    let description = describe(request, rows_per_file)?;
    // Workers elsewhere have only the description, so rows are made from it here too.
    let described = self::request(&description)?;
    let folder = open(&request.table, description)?;
    with_sweep(&described, cancel, |sweep| {
        let part = |cells, stop: &dyn Fn() -> bool| sweep.part(cells, stop);
        Ok(run_parts(&folder, request.shard, request.threads, &part, cancel.flag(), progress)?)
    })
}
