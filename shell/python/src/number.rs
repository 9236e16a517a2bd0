//! Whole numbers of Python that must fit a type of Rust.
use crate::error::wrong;
use pyo3::prelude::*;
use std::fmt::Display;

/// Checks that an argument is within the limits.
pub(crate) fn within<T>(py: Python<'_>, name: &str, value: i128, limits: [T; 2]) -> PyResult<T>
where
    T: TryFrom<i128> + PartialOrd + Display + Copy,
{
    let [min, max] = limits;
    let fits = T::try_from(value).ok().filter(|number| (min..=max).contains(number));
    fits.ok_or_else(|| wrong(py, format_args!("{name}: {value} is out of range (expected {min} to {max})")))
}
