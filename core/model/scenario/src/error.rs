//! Errors in scenario files, with their position.
use alloc::string::{String, ToString};
use core::fmt;

/// An invalid scenario file:
/// `scenarios/home.toml:14: up.delay: duration "5" has no unit (did you mean ...)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// Name of the file, as given by the caller.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// The key, its value, and what was expected.
    pub what: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
impl core::error::Error for ScenarioError {}

impl ScenarioError {
    /// Creates an error at byte `offset` of `text`.
    pub(crate) fn at(file: &str, text: &str, offset: usize, what: String) -> Self {
        let before = text.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        ScenarioError { file: file.to_string(), line, what }
    }
}
