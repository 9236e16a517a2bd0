//! Changes of a scenario, from keyword arguments.
use crate::error::wrong;
use crate::plugin::{self, Fault};
use fathom_app::scenario::Changes;
use fathom_qdisc::Spec;
use fathom_scenario::{Axis, PluginValue, Setting};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// The changes: those of `--set`, from a dict whose values are dicts, single values or classes,
/// and the queue of `--queue`. `fault` gets the exceptions of the classes.
pub(crate) fn changes(
    queue: Option<&Bound<'_, PyAny>>,
    values: Option<&Bound<'_, PyDict>>,
    fault: &Fault,
) -> PyResult<Changes> {
    let mut changes =
        Changes { queue: queue.map(|queue| spec(queue, fault)).transpose()?, ..Changes::default() };
    if let Some(values) = values {
        each(values, "", &mut |key, value| {
            if value.is_callable() {
                let plugin = if key.ends_with("queue") {
                    PluginValue::Queue(plugin::queue(value, fault)?)
                } else {
                    PluginValue::Control(plugin::control(value, fault)?)
                };
                changes.plugins.push((key.to_owned(), plugin));
            } else {
                let setting = format!("{key}={}", text(key, value)?).parse::<Setting>();
                changes.settings.push(setting.map_err(|error| wrong(value.py(), error))?);
            }
            Ok(())
        })?;
    }
    Ok(changes)
}

/// The changes of a sweep. Other processes simulate its cells, so it has no plug-ins.
pub(crate) fn changes_without_plugins(
    queue: Option<&Bound<'_, PyAny>>,
    values: &Bound<'_, PyDict>,
) -> PyResult<Changes> {
    let changes = changes(queue, Some(values), &Fault::default())?;
    if !changes.plugins.is_empty() || matches!(changes.queue, Some(Spec::Plugin(_))) {
        return Err(PyTypeError::new_err("a sweep takes no classes"));
    }
    Ok(changes)
}

/// A queue as a text or as a class.
fn spec(queue: &Bound<'_, PyAny>, fault: &Fault) -> PyResult<Spec> {
    if queue.is_callable() {
        return plugin::queue(queue, fault);
    }
    let Ok(text) = queue.cast::<PyString>() else {
        return Err(type_error("queue", "a str or a class", queue)?);
    };
    text.to_cow()?.parse().map_err(|error| wrong(queue.py(), format_args!("queue: {error}")))
}

/// The axes of `--vary`, from a dict whose values are dicts, texts in the syntax of `--vary`, or
/// iterables of single values.
pub(crate) fn axes(py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<Vec<Axis>> {
    let mut axes = Vec::new();
    each(values, "", &mut |key, value| {
        let axis = match value.cast::<PyString>() {
            Ok(text) => {
                format!("{key}={}", text.to_cow()?).parse::<Axis>().map_err(|error| wrong(py, error))?
            }
            Err(_) => {
                let texts = value.try_iter()?.map(|one| text(key, &one?));
                Axis { path: key.to_owned(), values: texts.collect::<PyResult<_>>()? }
            }
        };
        if axis.values.is_empty() {
            return Err(wrong(py, format_args!("vary: {key}: no values")));
        }
        axes.push(axis);
        Ok(())
    })?;
    Ok(axes)
}

/// Calls `with` with each value of a dict and of the dicts in it, below the key `path`.
fn each(
    values: &Bound<'_, PyDict>,
    path: &str,
    with: &mut dyn FnMut(&str, &Bound<'_, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    for (key, value) in values {
        let key = key.cast::<PyString>().map_err(|_| key_type(&key))?.to_cow()?.into_owned();
        let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
        match value.cast::<PyDict>() {
            Ok(nested) => each(nested, &inner, with)?,
            Err(_) => with(&inner, &value)?,
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
