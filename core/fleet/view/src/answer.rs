//! Whole answers of Prometheus' HTTP API in memory: instant vectors and ranges.
use crate::labels::SeriesLabels;
use crate::stream::{AnswerKind, read_answer};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

/// Labels of a series and a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Labelled {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

/// Labels of a series and its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Track {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// Seconds since 1970 and value, in order of time.
    pub points: Vec<(f64, f64)>,
}

/// Why an answer cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerError {
    /// The engine reports an error.
    Engine(String),
    /// It is no answer of this API.
    Invalid(String),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::Engine(why) => write!(f, "the engine reports: {why}"),
            AnswerError::Invalid(why) => write!(f, "no answer of a Prometheus API: {why}"),
        }
    }
}

/// Reads the answer to an instant query. Values that are no number are left out.
///
/// # Errors
/// The error of the engine, or what is wrong with the answer.
pub fn read_vector(body: &[u8]) -> Result<Vec<Labelled>, AnswerError> {
    let mut all = Vec::new();
    read(body, AnswerKind::Vector, |labels, points| {
        all.extend(points.iter().map(|(_, value)| Labelled { labels: labels.to_map(), value: *value }));
    })?;
    Ok(all)
}

/// Reads the answer to a range query. Values that are no number are left out.
///
/// # Errors
/// The error of the engine, or what is wrong with the answer.
pub fn read_range(body: &[u8]) -> Result<Vec<Track>, AnswerError> {
    let mut all = Vec::new();
    read(body, AnswerKind::Matrix, |labels, points| {
        all.push(Track { labels: labels.to_map(), points: points.to_vec() });
    })?;
    Ok(all)
}

fn read(
    body: &[u8],
    kind: AnswerKind,
    mut each: impl FnMut(&SeriesLabels, &[(f64, f64)]),
) -> Result<(), AnswerError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let mut go_on = |labels: &SeriesLabels, points: &[(f64, f64)]| {
        each(labels, points);
        ControlFlow::Continue(())
    };
    let read = read_answer(&mut json, kind, &mut go_on).and_then(|answer| json.end().map(|()| answer));
    read.map_err(|error| AnswerError::Invalid(error.to_string()))?
}
