//! The result of a use case: a run and its diagnosis.
use crate::error::{of_use_case, wrong};
use crate::interrupt::interruptible;
use crate::key::KeyParts;
use crate::series::Series;
use crate::table::Table;
use crate::{columns, error, json, tables};
use fathom_app::output::{self, exit_class};
use fathom_app::results::{DiagnosedRun, diagnosed};
use fathom_app::sim::Simulated;
use fathom_report::{ClaimRow, Origin, Style, document, summary};
use fathom_run::Measure;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Columns of a summary.
const COLUMNS: u16 = 80;

/// A result: what was measured, and what it means.
///
/// A simulation, a capture, and a result file of Fathom or of another program all give a Run.
/// ``print(run)`` shows the summary of the command line. Units are the last word of a name and SI;
/// ratios are from 0 to 1.
#[pyclass(frozen, module = "fathom")]
pub(crate) struct Run {
    result: Arc<DiagnosedRun>,
    simulation: Option<Simulation>,
}

/// What is known of a simulation alone.
struct Simulation {
    digest: u64,
    packets: u64,
    claims: Vec<ClaimRow>,
}

impl Run {
    /// A run with its diagnosis. Warns if the run is incomplete.
    pub(crate) fn new(py: Python<'_>, result: DiagnosedRun) -> PyResult<Self> {
        let run = Run { result: Arc::new(result), simulation: None };
        if let Some(reason) = run.partial() {
            error::warn_partial(py, &format!("partial result: {reason}"))?;
        }
        Ok(run)
    }
    /// A simulated run, which is never incomplete: a cancelled one has no result.
    pub(crate) fn of_simulation(simulated: Simulated, claims: Vec<ClaimRow>) -> Self {
        let Simulated { run, digest, packets } = simulated;
        Run { result: Arc::new(diagnosed(run)), simulation: Some(Simulation { digest, packets, claims }) }
    }
}

#[pymethods]
impl Run {
    /// Command that makes such a result: ``sim``, ``trace``, ``test``, ...
    #[getter]
    fn command(&self) -> &str {
        &self.result.0.command
    }
    /// Title in one line: the server, the line or the capture.
    #[getter]
    fn title(&self) -> &str {
        &self.result.0.title
    }
    /// Wall-clock time of the start, RFC 3339.
    #[getter]
    fn started(&self) -> &str {
        &self.result.0.started
    }
    /// Version of the program that made it.
    #[getter]
    fn tool_version(&self) -> &str {
        &self.result.0.tool_version
    }
    /// Why the result is incomplete; None if it is complete.
    #[getter]
    fn partial(&self) -> Option<String> {
        self.result.0.partial.as_ref().map(fathom_prose::interruption)
    }
    /// The verdict in one or two sentences.
    #[getter]
    fn verdict(&self) -> String {
        let (run, diagnosis) = &*self.result;
        document(run, diagnosis).verdict.headline
    }
    /// ``healthy``, ``bloated``, ``invalid`` or ``inconclusive``.
    #[getter]
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.result.1.health)
    }
    /// Exit code of the command line for this result: see docs/exit-codes.md.
    #[getter]
    fn exit_code(&self) -> u8 {
        let (run, diagnosis) = &*self.result;
        exit_class(run, diagnosis) as u8
    }
    /// The findings as data, the weightiest first: kind, parameters, evidence, certainty.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.result.1.findings)
    }
    /// What to do, as data.
    #[getter]
    fn advice<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.result.1.advice)
    }
    /// The few numbers that matter, with units in their names: the member ``summary`` of the
    /// document.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (run, diagnosis) = &*self.result;
        json::object(py, &document(run, diagnosis).summary)
    }
    /// Digest of all events of a simulation: equal digests mean equal simulations. None for other
    /// results.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.simulation.as_ref().map(|simulation| format!("{:016x}", simulation.digest))
    }
    /// Packets that the line of a simulation has delivered. None for other results.
    #[getter]
    fn packets(&self) -> Option<u64> {
        self.simulation.as_ref().map(|simulation| simulation.packets)
    }
    /// One number, such as ``run.measure("udp_rtt_s p95 while up")``: a metric, a statistic and a
    /// part of the run, as in the columns of `fathom sim sweep`. It has the unit of the metric.
    /// None if there are no observations.
    fn measure(&self, py: Python<'_>, measure: &str) -> PyResult<Option<f64>> {
        let measure: Measure = measure.parse().map_err(|error| wrong(py, error))?;
        Ok(measure.of(&self.result.0))
    }
    /// The series with this metric, direction (``up`` or ``down``), flow and scope; all of them by
    /// default.
    #[pyo3(signature = (metric=None, *, direction=None, flow=None, scope=None))]
    fn series(
        &self,
        py: Python<'_>,
        metric: Option<&str>,
        direction: Option<&str>,
        flow: Option<u32>,
        scope: Option<String>,
    ) -> PyResult<Vec<Series>> {
        let key = KeyParts::parse(py, metric, direction, flow, scope)?;
        let indices = key.indices(&self.result.0.series);
        Ok(indices.into_iter().map(|index| Series { result: self.result.clone(), index }).collect())
    }
    /// A table with one row for each observation of these series: metric, direction, flow, scope,
    /// phase, at_ns (time since the start of the run, in nanoseconds), value (in the unit that is
    /// the last word of the metric), censored (whether the value is a lower bound).
    #[pyo3(signature = (metric=None, *, direction=None, flow=None, scope=None))]
    fn observations(
        &self,
        py: Python<'_>,
        metric: Option<&str>,
        direction: Option<&str>,
        flow: Option<u32>,
        scope: Option<String>,
    ) -> PyResult<Table> {
        let key = KeyParts::parse(py, metric, direction, flow, scope)?;
        columns::of_all(&self.result, &key.indices(&self.result.0.series))
    }
    /// A table with one row for each phase: load, latency, goodput, scores.
    fn phases(&self) -> PyResult<Table> {
        tables::phases(&self.result.1)
    }
    /// A table with the TCP flows of a capture with the most bytes: one row for each end that sent.
    /// Without rows for other results.
    fn flows(&self) -> PyResult<Table> {
        tables::flows(self.result.0.capture.as_deref())
    }
    /// A table with the published numbers that the scenario quotes, next to the simulated ones: one
    /// row for each claim. Without rows if the scenario was changed, and for other results.
    fn claims(&self) -> PyResult<Table> {
        tables::claims(self.simulation.as_ref().map_or(&[], |simulation| &simulation.claims))
    }
    /// The JSON document of the command line, in one line: docs/schema/result.schema.json.
    fn to_json(&self) -> PyResult<String> {
        let (run, diagnosis) = &*self.result;
        json::text(&document(run, diagnosis))
    }
    /// Writes the result to a file, whose extension selects the format: .json, .json.gz, .html,
    /// .svg, .csv, .csv.gz or .flent.gz.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let result = self.result.clone();
        let written = interruptible(py, move |_| {
            let (run, diagnosis) = &*result;
            output::check_names([&path]).and_then(|()| output::write(&path, &[(run, diagnosis)]))
        })?;
        written.map_err(|error| of_use_case(py, &error))
    }
    fn __str__(&self) -> String {
        let (run, diagnosis) = &*self.result;
        let style = Style { unicode: true, ..Style::default() };
        summary(run, diagnosis, Origin::default(), COLUMNS, style)
    }
    fn __repr__(&self) -> String {
        format!("<fathom.Run {} {:?}: {}>", self.command(), self.title(), self.verdict())
    }
}
