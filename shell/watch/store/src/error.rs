//! Errors of a history, and repairs.
use fathom_watch_samples::DecodeError;
use rusqlite::ErrorCode;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a history cannot be opened or read. `Display` gives one line with the file and what to try.
#[derive(Debug)]
pub enum HistoryError {
    /// Another process is writing it.
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process ID, if known.
        process: Option<u32>,
    },
    /// A system call failed.
    System {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite reported an error.
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// It was written by a later version of this program.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        version: i64,
        /// The latest version that this program supports.
        known: i64,
    },
    /// The database belongs to another program.
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// The maximum number of series is reached.
    TooManySeries {
        /// The database.
        path: PathBuf,
        /// The maximum.
        limit: u32,
    },
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryError::Locked { path, process } => {
                let by = process.map_or("another process".into(), |p| format!("process {p}"));
                write!(f, "{} is in use by {by}: stop it, or use another directory", path.display())
            }
            HistoryError::System { path, source } => {
                write!(f, "cannot use {}: {source}. Try another directory", path.display())
            }
            HistoryError::Database { path, .. } if !path.exists() => {
                write!(f, "{} does not exist", path.display())
            }
            HistoryError::Database { path, source } => {
                write!(f, "cannot use {}: {source}{}", path.display(), advice(source))
            }
            HistoryError::Foreign { path } => {
                write!(f, "{} is the database of another program: use another directory", path.display())
            }
            HistoryError::Newer { path, version, known } => write!(
                f,
                "{}: its version is {version}, the latest known is {known}: use a newer fathom, or another directory",
                path.display()
            ),
            HistoryError::TooManySeries { path, limit } => {
                write!(f, "{} has reached the limit of {limit} series", path.display())
            }
        }
    }
}

impl std::error::Error for HistoryError {}

/// What to try after an error of SQLite.
fn advice(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            ". `fathom watch repair` saves what can be read"
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            ". Check the owner and the mode of the directory and its files"
        }
        Some(ErrorCode::SystemIoFailure) => ". The disk may be faulty: see the log of the kernel",
        Some(ErrorCode::DiskFull) => ". Free disk space",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ". Another program uses it: try again",
        _ => "",
    }
}

/// A damaged item that was moved aside so that the rest remains usable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The item, and how it was damaged.
    pub what: String,
    /// The file in which it was kept; `None` if it could not be kept.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        match &self.kept {
            Some(path) => write!(f, "; saved as {}", path.display()),
            None => write!(f, "; it could not be saved"),
        }
    }
}

/// Why an operation of the writer failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite reported an error.
    Sql(rusqlite::Error),
    /// A compressed value is damaged.
    Blob {
        /// The table.
        table: &'static str,
        /// The row ID.
        id: i64,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Sql(error) => error.fmt(f),
            Fault::Blob { table, id, why } => write!(f, "row {id} of {table} {why}"),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl Fault {
    pub(crate) fn unpacked(table: &'static str, id: i64, why: &io::Error) -> Fault {
        Fault::Blob { table, id, why: format!("cannot be decompressed ({why})") }
    }
    pub(crate) fn decoded(table: &'static str, id: i64, why: DecodeError) -> Fault {
        Fault::Blob { table, id, why: why.to_string() }
    }
}
