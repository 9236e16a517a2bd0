//! Errors while reading and writing files.
use fathom_import::{Format, ImportError};
use fathom_os::error::without_code;
use fathom_run::RunError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file could not be written or read. `Display` gives one line with the file and what to try.
#[derive(Debug)]
pub enum StoreError {
    /// The file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Bytes to be written.
        needed: u64,
        /// The system's error.
        source: io::Error,
        /// Where the run was saved instead.
        rescued: Option<PathBuf>,
    },
    /// The file could not be read, or its compressed data is damaged.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// More than [`crate::MAX_FILE_BYTES`], compressed or decompressed.
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is a damaged result of another tool.
    Import {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ImportError,
    },
    /// It is a result neither of Fathom nor of a known tool.
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// It is not a run.
    Run {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: RunError,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Write { path, needed, source, rescued } => {
                write!(
                    f,
                    "cannot write {} ({needed} bytes needed): {}. ",
                    path.display(),
                    without_code(source)
                )?;
                match rescued {
                    Some(kept) => write!(f, "The run was saved in {}", kept.display()),
                    None => write!(f, "Try another directory"),
                }
            }
            StoreError::Read { path, source } => {
                write!(f, "cannot read {}: {}", path.display(), without_code(source))
            }
            StoreError::TooLarge { path } => {
                write!(
                    f,
                    "{} has more than {} bytes, the limit for run files",
                    path.display(),
                    crate::MAX_FILE_BYTES
                )
            }
            StoreError::Import { path, source } => write!(f, "{} {source}", path.display()),
            StoreError::Unknown { path } => {
                write!(f, "{} is not a result of Fathom, or of {}", path.display(), Format::TOOLS)
            }
            StoreError::Run { path, source } => write!(f, "{} {source}", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}
