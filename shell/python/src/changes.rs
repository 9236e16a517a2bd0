//! Changes of a scenario, from keyword arguments.
use crate::error::wrong;
use fathom_app::scenario::Changes;
use fathom_qdisc::Spec;
use fathom_scenario::Setting;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// The changes: those of `--set`, from a dict whose values are dicts or single values, and the
/// queue of `--queue`.
pub(crate) fn changes(
    py: Python<'_>,
    queue: Option<&str>,
    values: Option<&Bound<'_, PyDict>>,
) -> PyResult<Changes> {
    let mut settings = Vec::new();
    if let Some(values) = values {
        add(values, "", &mut settings)?;
    }
    let queue = queue.map(str::parse::<Spec>).transpose();
    Ok(Changes { settings, queue: queue.map_err(|error| wrong(py, format_args!("queue: {error}")))? })
}

/// Adds the values of a dict below the key `path`.
fn add(values: &Bound<'_, PyDict>, path: &str, to: &mut Vec<Setting>) -> PyResult<()> {
    for (key, value) in values {
        let key = key.cast::<PyString>().map_err(|_| key_type(&key))?.to_cow()?.into_owned();
        let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
        match value.cast::<PyDict>() {
            Ok(nested) => add(nested, &inner, to)?,
            Err(_) => {
                let setting = format!("{inner}={}", text(&inner, &value)?).parse::<Setting>();
                to.push(setting.map_err(|error| wrong(value.py(), error))?);
            }
        }
    }
    Ok(())
}

/// A value as the command line spells it.
fn text(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        Ok(flag.is_true().to_string())
    } else if value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyString>()
    {
        Ok(value.str()?.to_cow()?.into_owned())
    } else {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "{path}: expected a str, a number, a bool or a dict of them, not {kind}"
        )))
    }
}

fn key_type(key: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a key of a change is a str, not {key}"))
}
