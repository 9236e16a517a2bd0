//! Checks of queue disciplines and congestion controls that are written in Python.
use crate::error::wrong;
use crate::interrupt::interruptible;
use crate::number::within;
use crate::plugin::{self, Fault};
use fathom_qdisc::{Plugin, conformance};
use pyo3::prelude::*;

/// Checks a queue discipline with random packets: see docs/plugins.md for the rules.
///
/// ``code``: the class, or what creates its objects from a seed. ``seeds``: number of random
/// sequences of 2,000 calls each. Raises InputError with the first rule that is broken.
#[pyfunction]
#[pyo3(signature = (code, *, seeds=10))]
pub(crate) fn check_queue(py: Python<'_>, code: &Bound<'_, PyAny>, seeds: i128) -> PyResult<()> {
    let seeds = within(py, "seeds", seeds, [1, u64::MAX])?;
    let fault = Fault::default();
    let params = plugin::queue_params(code, &fault)?;
    let checked = interruptible(py, move |cancel| {
        let all = (0..seeds).take_while(|_| !cancel.is_cancelled());
        plugin::in_python(|| conformance::check(all, |seed| Plugin::new(params.clone(), seed)))
    })?;
    fault.take().map_or_else(|| checked.map_err(|broken| wrong(py, broken)), Err)
}

/// Checks a congestion control on simulated lines: see docs/plugins.md for the rules.
///
/// ``code``: the class, or what creates its objects from the size of a segment. Raises InputError
/// with the first rule that is broken.
#[pyfunction]
pub(crate) fn check_congestion_control(py: Python<'_>, code: &Bound<'_, PyAny>) -> PyResult<()> {
    let fault = Fault::default();
    let control = plugin::control(code, &fault)?;
    let of_plugin = fault.clone();
    let checked = interruptible(py, move |cancel| {
        of_plugin.cancels(cancel);
        plugin::in_python(|| fathom_sim::check_control(&control, &mut || cancel.is_cancelled()))
    })?;
    fault.take().map_or_else(|| checked.map_err(|broken| wrong(py, broken)), Err)
}
