//! Buffer arithmetic.
use crate::error::{of_use_case, wrong};
use crate::json;
use crate::number::within;
use fathom_app::size::{Framing, Question, answer, byte_rates, document};
use fathom_units::Ratio;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::fmt::Display;
use std::str::FromStr;

/// Calculates buffer, rate and delay from each other, as `fathom size` does.
///
/// ``quantities`` are at most one buffer (``256p``, ``375kB``), one rate (``10mbit``), one delay or
/// round-trip time (``20ms``) and one overload (``1%``). ``flows``: number of TCP flows that share
/// the link. ``overload``: arriving traffic above the rate, as a ratio or ``1%``. ``arriving``:
/// rate at which traffic arrives. ``fill``: time in which the buffer fills up. ``packet``: packet
/// size with Ethernet header. ``overhead``: bytes that the link adds to each packet. ``atm``: the
/// link carries ATM cells. Returns a dict whose names end in their units; without arguments, the
/// published cases.
#[pyfunction]
#[pyo3(signature = (*quantities, flows=None, overload=None, arriving=None, fill=None, packet="1514b",
    overhead="0b", atm=false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn size<'py>(
    py: Python<'py>,
    quantities: Vec<String>,
    flows: Option<i128>,
    overload: Option<Bound<'py, PyAny>>,
    arriving: Option<&str>,
    fill: Option<&str>,
    packet: &str,
    overhead: &str,
    atm: bool,
) -> PyResult<Bound<'py, PyAny>> {
    for word in byte_rates(&quantities) {
        let message = format!("{word}: bps means bytes per second, as in tc; write bits as in 10mbit");
        py.import("warnings")?.call_method1("warn", PyTuple::new(py, [message])?)?;
    }
    let overload = overload.map(|share| ratio(&share)).transpose()?;
    if overload.is_some() && arriving.is_some() {
        return Err(wrong(py, "arriving conflicts with overload"));
    }
    let framing =
        Framing { packet: parsed(py, "packet", packet)?, overhead: parsed(py, "overhead", overhead)?, atm };
    let question = Question {
        flows: flows.map(|count| within(py, "flows", count, [0, u64::MAX])).transpose()?,
        overload: overload.map(|share| share.0),
        arriving: arriving.map(|text| parsed(py, "arriving", text)).transpose()?,
        fill: fill.map(|text| parsed(py, "fill", text)).transpose()?,
        framing,
        ..Question::default()
    };
    let is_empty = quantities.is_empty() && question == Question::default();
    let answer = if is_empty { None } else { Some(answer(question, &quantities)) };
    let document = answer.transpose().and_then(|answer| document(answer.as_ref()));
    json::object(py, document.map_err(|error| of_use_case(py, &error))?.get("size"))
}

/// A ratio as a number or as a text such as `1%`.
fn ratio(share: &Bound<'_, PyAny>) -> PyResult<Ratio> {
    match share.cast::<PyString>() {
        Ok(text) => parsed(share.py(), "overload", &text.to_cow()?),
        Err(_) => share.extract::<f64>().map(Ratio),
    }
}

fn parsed<T: FromStr<Err: Display>>(py: Python<'_>, name: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|error| wrong(py, format_args!("{name}: {error}")))
}
