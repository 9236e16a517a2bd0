//! Where a scenario file is wrong, and how.
use alloc::string::{String, ToString};
use core::fmt;

/// A scenario file that is refused: `scenarios/home.toml:14: up.delay: duration "5" has no unit (did you mean ...)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The file, as the caller named it.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// The object, the value seen, and what would do.
    pub what: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
impl core::error::Error for ScenarioError {}

impl ScenarioError {
    /// An error at byte `offset` of `text`.
    pub(crate) fn at(file: &str, text: &str, offset: usize, what: String) -> Self {
        let before = text.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        ScenarioError { file: file.to_string(), line, what }
    }
}
