//! Errors as the exceptions of `python/fathom/errors.py`.
use fathom_app::{AppError, ExitClass};
use fathom_text::printable;
use pyo3::prelude::*;
use std::fmt::Display;

/// The exception for an exit class, with the text of the command line.
pub(crate) fn raised(py: Python<'_>, class: ExitClass, message: &str) -> PyErr {
    let name = match class {
        ExitClass::Environment => "EnvironmentError",
        ExitClass::Input => "InputError",
        _ => "Error",
    };
    let exception = py
        .import("fathom.errors")
        .and_then(|module| module.getattr(name))
        .and_then(|exception| exception.call1((printable(message),)));
    exception.map_or_else(|error| error, PyErr::from_value)
}

/// The exception for an error of a use case.
pub(crate) fn of_use_case(py: Python<'_>, error: &AppError) -> PyErr {
    raised(py, error.class(), &error.to_string())
}

/// The exception for a wrong argument.
pub(crate) fn wrong(py: Python<'_>, message: impl Display) -> PyErr {
    raised(py, ExitClass::Input, &message.to_string())
}

/// Warns of an incomplete result, as the command line does.
pub(crate) fn warn_partial(py: Python<'_>, message: &str) -> PyResult<()> {
    let category = py.import("fathom.errors")?.getattr("PartialResultWarning")?;
    py.import("warnings")?.call_method1("warn", (printable(message), category))?;
    Ok(())
}
