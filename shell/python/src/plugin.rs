//! Queue disciplines and congestion controls that are written in Python.
mod control;
mod queue;

pub(crate) use control::{Ack, Window, control};
pub(crate) use queue::{Packet, QueueActions, queue, queue_params};

use crate::error::wrong;
use fathom_app::CancelToken;
use pyo3::prelude::*;
use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Runs work that often calls Python, in a thread of Rust. The thread state of Python exists until
/// the end of the work: creating one for each call takes longer than most calls.
pub(crate) fn in_python<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    Python::attach(|py| py.detach(work))
}

/// The first exception that the code raised. It ends the simulation.
#[derive(Clone, Default, Debug)]
pub(crate) struct Fault(Arc<Inner>);

#[derive(Default, Debug)]
struct Inner {
    first: Mutex<Option<PyErr>>,
    simulation: OnceLock<CancelToken>,
}

impl Fault {
    /// Cancels this simulation after an exception.
    pub(crate) fn cancels(&self, simulation: &CancelToken) {
        let _ = self.0.simulation.set(simulation.clone());
    }
    /// The exception, if there was one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first().take()
    }
    fn first(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn is_set(&self) -> bool {
        self.first().is_some()
    }
    fn set(&self, error: PyErr) {
        self.first().get_or_insert(error);
        if let Some(simulation) = self.0.simulation.get() {
            simulation.cancel();
        }
    }
    /// A result that no code of this kind may have.
    fn set_wrong(&self, py: Python<'_>, what: impl Display) {
        self.set(wrong(py, what));
    }
    /// The value, unless there is an exception now or was one before.
    fn value<T>(&self, result: PyResult<T>) -> Option<T> {
        result.map_err(|error| self.set(error)).ok().filter(|_| !self.is_set())
    }
}

/// The name of a class or function.
fn name(code: &Bound<'_, PyAny>) -> PyResult<String> {
    match code.getattr("__name__") {
        Ok(name) => name.extract(),
        Err(_) => code.get_type().name()?.extract(),
    }
}

/// A method that the object need not have.
fn optional(object: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    object.hasattr(method)
}
