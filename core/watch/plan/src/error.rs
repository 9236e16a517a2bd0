//! Errors in a configuration, with the line.
use alloc::string::{String, ToString};
use core::fmt;

/// A configuration error:
/// `watch.toml:14: interval: duration "5" has no unit (did you mean "5ms" or "5s"?)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError {
    /// The file name, as the caller gave it.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// The key, the value seen, and what to try.
    pub what: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
impl core::error::Error for PlanError {}

impl PlanError {
    /// Builds the error from the byte offset of the fault in `text`.
    pub(crate) fn at(file: &str, text: &str, fault: Fault) -> Self {
        let before = text.as_bytes().iter().take(fault.offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        PlanError { file: file.to_string(), line, what: fault.what }
    }
}

/// What is wrong, and the byte offset in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) what: String,
}

impl Fault {
    pub(crate) const fn new(offset: usize, what: String) -> Self {
        Fault { offset, what }
    }
}
