//! Why a result of another tool could not be read.
use crate::Format;
use alloc::string::{String, ToString};
use core::fmt;
use fathom_run::RunError;

/// Why a file could not be imported. `Display` gives one line without the file name.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportError {
    pub(crate) format: Format,
    pub(crate) problem: Problem,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Problem {
    /// The text ends too early.
    Truncated,
    /// A part does not match the format.
    Damaged(String),
    /// The tool failed, with its own message.
    Failed(String),
    /// The file has nothing that can be shown.
    Lacks {
        what: &'static str,
        /// What writes a file that has it.
        command: &'static str,
    },
}

impl ImportError {
    /// The format of the file.
    pub const fn format(&self) -> Format {
        self.format
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.format.name();
        // A message of another tool may have several lines.
        let one_line = |text: &str| text.replace(char::is_control, " ");
        match &self.problem {
            Problem::Truncated => write!(f, "is truncated"),
            Problem::Damaged(why) => write!(f, "is damaged ({tool}): {}", one_line(why)),
            Problem::Failed(message) => write!(f, "is an error of {tool}: {}", one_line(message)),
            Problem::Lacks { what, command } => write!(f, "has no {what} (try {command})"),
        }
    }
}
impl core::error::Error for ImportError {}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() { Problem::Truncated } else { Problem::Damaged(error.to_string()) }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Problem::Damaged(error.to_string())
    }
}
