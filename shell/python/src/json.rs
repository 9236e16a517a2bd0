//! Documents as text and as Python objects.
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// The text of a document, as the command line prints it with `--json`.
pub(crate) fn text(document: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(document).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The document as dicts, lists, numbers and texts: what `json.loads` makes of its text.
pub(crate) fn object<'py>(py: Python<'py>, document: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text(document)?,))
}
