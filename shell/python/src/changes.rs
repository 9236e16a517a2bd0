//! Changes of a scenario, from keyword arguments.
use crate::error::wrong;
use crate::plugin::{self, Fault};
use fathom_app::scenario::Changes;
use fathom_qdisc::Spec;
use fathom_scenario::{CodeValue, Setting};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// The changes: those of `--set`, from a dict whose values are dicts, single values or code, and
/// the queue of `--queue`. `fault` gets the exceptions of the code.
pub(crate) fn changes(
    queue: Option<&Bound<'_, PyAny>>,
    values: Option<&Bound<'_, PyDict>>,
    fault: &Fault,
) -> PyResult<Changes> {
    let mut changes =
        Changes { queue: queue.map(|queue| spec(queue, fault)).transpose()?, ..Changes::default() };
    if let Some(values) = values {
        add(values, "", fault, &mut changes)?;
    }
    Ok(changes)
}

/// A queue as a text or as code.
pub(crate) fn spec(queue: &Bound<'_, PyAny>, fault: &Fault) -> PyResult<Spec> {
    if queue.is_callable() {
        return plugin::queue(queue, fault);
    }
    let Ok(text) = queue.cast::<PyString>() else {
        return Err(type_error("queue", "a str or a class", queue)?);
    };
    text.to_cow()?.parse().map_err(|error| wrong(queue.py(), format_args!("queue: {error}")))
}

/// Adds the values of a dict below the key `path`.
fn add(values: &Bound<'_, PyDict>, path: &str, fault: &Fault, to: &mut Changes) -> PyResult<()> {
    for (key, value) in values {
        let key = key.cast::<PyString>().map_err(|_| key_type(&key))?.to_cow()?.into_owned();
        let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
        if let Ok(nested) = value.cast::<PyDict>() {
            add(nested, &inner, fault, to)?;
        } else if value.is_callable() {
            let code = if inner.ends_with("queue") {
                CodeValue::Queue(plugin::queue(&value, fault)?)
            } else {
                CodeValue::Control(plugin::control(&value, fault)?)
            };
            to.code.push((inner, code));
        } else {
            let setting = format!("{inner}={}", text(&inner, &value)?).parse::<Setting>();
            to.settings.push(setting.map_err(|error| wrong(value.py(), error))?);
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
        Err(type_error(path, "a str, a number, a bool, a class or a dict of them", value)?)
    }
}

fn type_error(path: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let kind = value.get_type().name()?;
    Ok(PyTypeError::new_err(format!("{path}: expected {expected}, not {kind}")))
}

fn key_type(key: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a key of a change is a str, not {key}"))
}
