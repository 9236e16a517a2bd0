//! How often the diagnosis is right, on paths with a known truth.
use crate::error::wrong;
use crate::interrupt::interruptible;
use crate::json;
use crate::number::within;
use crate::table::{Columns, Table};
use fathom_bench_score::{Judgment, MAX_PATHS, Scores};
use fathom_diagnose::Health;
use fathom_run::Certainty;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Claims of the diagnosis, compared with the truth: see docs/score.md. ``print(score)`` shows the
/// tables.
#[pyclass(frozen, module = "fathom")]
pub(crate) struct Score(Scores);

#[pymethods]
impl Score {
    /// Number of judged paths.
    #[getter]
    fn paths(&self) -> usize {
        self.0.paths()
    }
    /// A table with one row for each claim that was made or could have been made: path, bloated,
    /// borderline, health, claim, about, possible, made, right, error_ratio, certainty, detail.
    fn claims(&self) -> PyResult<Table> {
        let rows: Vec<Judgment<'_>> = self.0.judgments().collect();
        Columns::of(&rows)
            .text("path", |row| Some(row.path))
            .flag("bloated", |row| Some(row.is_bloated))
            .flag("borderline", |row| Some(row.is_borderline))
            .text("health", |row| Some(health(row.health)))
            .text("claim", |row| Some(row.claim))
            .text("about", |row| Some(row.about).filter(|about| !about.is_empty()))
            .flag("possible", |row| Some(row.is_possible))
            .flag("made", |row| Some(row.is_right.is_some()))
            .flag("right", |row| row.is_right)
            .number("error_ratio", |row| row.error)
            .text("certainty", |row| row.certainty.map(certainty))
            .text("detail", |row| row.detail)
            .table()
    }
    /// Every claim as JSON, in one line.
    fn to_json(&self) -> PyResult<String> {
        json::text(&self.0.json())
    }
    fn __str__(&self) -> String {
        self.0.tables()
    }
    fn __repr__(&self) -> String {
        format!("<fathom.Score: {} paths>", self.paths())
    }
}

/// Draws random paths, tests them in the simulator, and compares every claim of the diagnosis with
/// the truth (docs/score.md).
///
/// ``paths``: number of paths. ``seed`` selects them. ``scenario``: the path of a scenario file
/// with a load, which is judged instead. A path takes about a second of a processor.
#[pyfunction]
#[pyo3(signature = (paths=100, *, seed=1, scenario=None))]
pub(crate) fn score(py: Python<'_>, paths: i128, seed: i128, scenario: Option<PathBuf>) -> PyResult<Score> {
    let paths = within(py, "paths", paths, [1, MAX_PATHS])?;
    let seed = within(py, "seed", seed, [0, u64::MAX])?;
    let scores = interruptible(py, move |cancel| match scenario {
        Some(file) => Scores::of_file(&file),
        None => Scores::of_drawn(seed, paths, &|| cancel.is_cancelled()),
    })?;
    scores.map(Score).map_err(|error| wrong(py, error))
}

const fn health(health: Health) -> &'static str {
    match health {
        Health::Healthy => "healthy",
        Health::Bloated => "bloated",
        Health::Invalid => "invalid",
        Health::Inconclusive => "inconclusive",
    }
}

const fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Possible => "possible",
        Certainty::Likely => "likely",
        Certainty::Certain => "certain",
    }
}
