//! Answers of Prometheus' HTTP API: instant vectors and ranges.
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Deserialize;

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

#[derive(Deserialize)]
struct Whole {
    status: String,
    #[serde(default)]
    error: Option<String>,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(tag = "resultType", content = "result", rename_all = "lowercase")]
enum Data {
    Vector(Vec<Instant>),
    Matrix(Vec<Range>),
}

#[derive(Deserialize)]
struct Instant {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    value: (f64, String),
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    values: Vec<(f64, String)>,
}

/// Reads the answer to an instant query. Values that are no number are left out.
///
/// # Errors
/// The error of the engine, or what is wrong with the answer.
pub fn read_vector(body: &[u8]) -> Result<Vec<Labelled>, AnswerError> {
    let Data::Vector(all) = data(body)? else { return Err(other_kind()) };
    let one = |Instant { metric, value: (_, text) }| Some(Labelled { labels: metric, value: number(&text)? });
    Ok(all.into_iter().filter_map(one).collect())
}

/// Reads the answer to a range query. Values that are no number are left out.
///
/// # Errors
/// The error of the engine, or what is wrong with the answer.
pub fn read_range(body: &[u8]) -> Result<Vec<Track>, AnswerError> {
    let Data::Matrix(all) = data(body)? else { return Err(other_kind()) };
    let one = |Range { metric, values }| {
        let points = values.into_iter().filter_map(|(at, text)| Some((at, number(&text)?)));
        Track { labels: metric, points: points.collect() }
    };
    Ok(all.into_iter().map(one).collect())
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn other_kind() -> AnswerError {
    AnswerError::Invalid("values of another kind".to_string())
}

fn data(body: &[u8]) -> Result<Data, AnswerError> {
    let whole: Whole =
        serde_json::from_slice(body).map_err(|error| AnswerError::Invalid(error.to_string()))?;
    match (whole.status.as_str(), whole.data) {
        ("success", Some(data)) => Ok(data),
        ("success", None) => Err(AnswerError::Invalid("without data".to_string())),
        (status, _) => Err(AnswerError::Engine(whole.error.unwrap_or_else(|| status.to_string()))),
    }
}
