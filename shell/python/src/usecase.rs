//! Simulations, captures and result files.
use crate::changes::changes;
use crate::error::{of_use_case, wrong};
use crate::interrupt::interruptible;
use crate::number::within;
use crate::plugin::{self, Fault};
use crate::result::Run;
use fathom_app::gallery::rows;
use fathom_app::results::{ResultSource, diagnosed, load};
use fathom_app::scenario::{self, Changes};
use fathom_app::sim;
use fathom_app::trace::{CaptureInput, Exports, TraceRequest, analyze};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Simulates a scenario in virtual time, as `fathom sim` does.
///
/// ``scenario`` is a built-in name such as ``dsl`` or the path of a scenario file. ``seed`` selects
/// the random numbers: the same seed always gives the same result. ``queue`` replaces the queue of
/// every bottleneck, as in ``fq_codel target 10ms``; it may also be a class: see QueueDiscipline.
///
/// ``changes`` replace values of the scenario: nested dicts, as in
/// ``load={"duration": "20s"}``, or paths, as in ``**{"hop.modem.up.rate": "5mbit"}``. Amounts have
/// a unit, in the syntax of tc: ``5mbit``, ``375kB``, ``100ms``. A class can replace a queue, as in
/// ``hop={"dslam": {"up": {"queue": Mine}}}``, and a congestion control: see CongestionControl.
/// ``congestion_control=Mine`` replaces that of all TCP flows.
#[pyfunction]
#[pyo3(signature = (scenario, *, seed=1, queue=None, **changes))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: PathBuf,
    seed: i128,
    queue: Option<&Bound<'_, PyAny>>,
    changes: Option<&Bound<'_, PyDict>>,
) -> PyResult<Run> {
    let seed = within(py, "seed", seed, [0, u64::MAX])?;
    let fault = Fault::default();
    let changes = self::changes(queue, changes, &fault)?;
    let of_plugins = fault.clone();
    let simulated = interruptible(py, move |cancel| {
        of_plugins.cancels(cancel);
        let plan = scenario::load(&scenario.to_string_lossy(), &changes)?;
        let simulated = plugin::in_python(|| sim::simulate(&plan, seed, cancel));
        // Published numbers hold only for the unchanged scenario.
        let claims = if changes == Changes::default() { rows(&plan, &simulated.run) } else { Vec::new() };
        Ok(Run::of_simulation(simulated, claims))
    })?;
    fault.take().map_or_else(|| simulated.map_err(|error| of_use_case(py, &error)), Err)
}

/// Reads a result file, as `fathom report` does.
///
/// The file is of Fathom, or of another program such as flent, irtt, iperf3 or ping
/// (docs/imports.md).
#[pyfunction]
pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    let results = interruptible(py, move |_| load(&ResultSource::Files(vec![path])))?;
    let result = results.map_err(|error| of_use_case(py, &error))?.pop();
    Run::new(py, result.ok_or_else(|| wrong(py, "the file has no result"))?)
}

/// Analyzes packet captures, as `fathom trace` does.
///
/// Several captures are of one path, and the diagnosis is that of the first. ``one_clock``: whether
/// all of them share one clock. ``threads``: number of threads; by default it is chosen, and the
/// result does not depend on it.
#[pyfunction]
#[pyo3(signature = (*paths, one_clock=false, threads=None))]
pub(crate) fn trace(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    one_clock: bool,
    threads: Option<i128>,
) -> PyResult<Run> {
    let threads = threads.map(|count| within(py, "threads", count, [1, u8::MAX])).transpose()?;
    let request = TraceRequest {
        input: CaptureInput::Files(paths),
        is_one_clock: one_clock,
        threads,
        exports: Exports::default(),
        outputs: Vec::new(),
    };
    let traced =
        interruptible(py, move |cancel| analyze(&request, cancel).map(|trace| diagnosed(trace.run)))?;
    Run::new(py, traced.map_err(|error| of_use_case(py, &error))?)
}
