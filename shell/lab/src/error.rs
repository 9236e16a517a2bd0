//! Why a lab did not start.
use std::{fmt, io};

/// Why a lab did not start or could not do what was asked.
#[derive(Debug)]
pub enum LabError {
    /// A call to the system failed.
    System {
        /// What was being done, to complete "cannot ...".
        doing: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::System { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}
impl std::error::Error for LabError {}
