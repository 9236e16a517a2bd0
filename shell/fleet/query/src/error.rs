//! Why a question has no answer.
use std::fmt;

/// Why a question has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryError {
    /// The URL of the engine, or a file.
    pub object: String,
    /// The reason.
    pub why: String,
}

impl QueryError {
    /// An object lacks something.
    #[must_use]
    pub fn without(object: impl fmt::Display, what: &str) -> QueryError {
        QueryError { object: object.to_string(), why: format!("has no {what}") }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.why)
    }
}

impl std::error::Error for QueryError {}
