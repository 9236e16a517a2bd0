//! The parts of a sweep: `python/fathom/_sweep.py` has the loop that runs them on an executor.
use crate::changes::{axes, changes_without_plugins};
use crate::error::{of_use_case, wrong};
use crate::interrupt::interruptible;
use crate::number::within;
use fathom_app::scenario::ScenarioText;
use fathom_app::sweep::{self, Description, Folder, MAX_CELLS, Shard, SweepRequest, USUAL_MEASURES};
use fathom_app::{AppError, CancelToken};
use fathom_scenario::Grid;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};

/// The folder of a sweep, of which the calling process writes the files.
#[pyclass(frozen, module = "fathom._fathom", name = "_SweepFolder")]
pub(crate) struct SweepFolder {
    folder: Folder,
    document: String,
    cancel: CancelToken,
}

#[pymethods]
impl SweepFolder {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        scenario: PathBuf,
        vary: &Bound<'_, PyDict>,
        seeds: Vec<u64>,
        measures: Option<Vec<String>>,
        to: PathBuf,
        rows_per_file: Option<i128>,
        queue: Option<&Bound<'_, PyAny>>,
        values: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        if seeds.is_empty() {
            return Err(wrong(py, "seeds: no values"));
        }
        let rows = rows_per_file.map(|rows| within(py, "rows_per_file", rows, [1, MAX_CELLS])).transpose()?;
        let measures = measures.unwrap_or_else(|| USUAL_MEASURES.map(str::to_owned).into());
        let measures = measures.iter().map(|text| text.parse()).collect::<Result<_, _>>();
        let measures = measures.map_err(|error| wrong(py, error))?;
        let (axes, changes) = (axes(py, vary)?, changes_without_plugins(queue, values)?);
        let opened = interruptible(py, move |_| {
            let request = SweepRequest {
                scenario: ScenarioText::load(&scenario.to_string_lossy())?,
                changes,
                grid: Grid { axes, seeds },
                measures,
                table: to,
                shard: Shard::WHOLE,
                threads: 1,
            };
            sweep::open(&request.table, sweep::describe(&request, rows)?)
        })?;
        let folder = opened.map_err(|error| of_use_case(py, &error))?;
        let document = serde_json::to_string(folder.description()).map_err(defect)?;
        Ok(SweepFolder { folder, document, cancel: CancelToken::new() })
    }
    /// The sweep, for `_sweep_part`.
    #[getter]
    fn document(&self) -> &str {
        &self.document
    }
    /// Number of cells.
    #[getter]
    fn cells(&self) -> u64 {
        self.folder.description().cells
    }
    /// Number of files.
    #[getter]
    fn files(&self) -> u64 {
        self.folder.description().files()
    }
    /// Number of rows of a file.
    fn rows_of(&self, file: u64) -> u64 {
        let cells = self.folder.description().cells_of(file);
        cells.end - cells.start
    }
    fn next_missing(&self, first: u64) -> Option<u64> {
        self.folder.next_missing(first)
    }
    /// Path of the folder.
    #[getter]
    fn path(&self) -> &Path {
        self.folder.path()
    }
    /// Number of finished files, and of their rows.
    fn present(&self) -> (u64, u64) {
        let there = (0..self.files()).filter(|file| self.folder.has(*file));
        there.fold((0, 0), |(files, rows), file| (files + 1, rows + self.rows_of(file)))
    }
    /// The bytes of a file, made in this thread; None after `cancel`.
    fn part<'py>(&self, py: Python<'py>, file: u64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let made = py.detach(|| sweep::part(self.folder.description(), file, &self.cancel));
        bytes(py, made)
    }
    fn write(&self, py: Python<'_>, file: u64, part: &Bound<'_, PyBytes>) -> PyResult<()> {
        let part = part.as_bytes();
        let written = py.detach(|| self.folder.write(file, part));
        written.map_err(|error| of_use_case(py, &AppError::from(sweep::SweepError::Table(error))))
    }
    /// Ends the calls of `part`.
    fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// The bytes of a file of a sweep, made in this process.
#[pyfunction]
#[pyo3(name = "_sweep_part")]
pub(crate) fn sweep_part<'py>(
    py: Python<'py>,
    document: &str,
    file: u64,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let sweep: Description = serde_json::from_str(document).map_err(defect)?;
    let made = interruptible(py, move |cancel| sweep::part(&sweep, file, cancel))?;
    bytes(py, made)
}

fn bytes(py: Python<'_>, made: Result<Option<Vec<u8>>, AppError>) -> PyResult<Option<Bound<'_, PyBytes>>> {
    let made = made.map_err(|error| of_use_case(py, &error))?;
    Ok(made.map(|bytes| PyBytes::new(py, &bytes)))
}

fn defect(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
