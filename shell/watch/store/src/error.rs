//! Why a history cannot be opened or read, and what was set aside.
use fathom_watch_samples::DecodeError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a history cannot be opened or read. `Display` gives one line that names the file and what to
/// try.
#[derive(Debug)]
pub enum HistoryError {
    /// Another process writes it.
    Locked {
        /// The directory.
        path: PathBuf,
        /// Number of the process, if it can be told.
        process: Option<u32>,
    },
    /// The system refused.
    System {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// SQLite refused.
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// It was written by a later version of this program.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        version: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// More series than there are numbers for them.
    TooManySeries {
        /// The database.
        path: PathBuf,
        /// The most there can be.
        limit: u32,
    },
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryError::Locked { path, process } => {
                let by = process.map_or("another process".into(), |p| format!("process {p}"));
                write!(
                    f,
                    "{} is being written by {by}: stop it, or give this one another directory",
                    path.display()
                )
            }
            HistoryError::System { path, source } => {
                write!(f, "cannot use {}: {source}. Try another directory", path.display())
            }
            HistoryError::Database { path, source } => write!(f, "cannot use {}: {source}", path.display()),
            HistoryError::Newer { path, version, known } => write!(
                f,
                "{} has version {version}, this program knows versions up to {known}: use a later fathom, or another directory",
                path.display()
            ),
            HistoryError::TooManySeries { path, limit } => {
                write!(f, "{} has {limit} series already, the most there can be", path.display())
            }
        }
    }
}

impl std::error::Error for HistoryError {}

/// Something damaged, which was set aside so that the rest goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// What was damaged, and how.
    pub what: String,
    /// Where it is kept for whoever wants to look at it; `None` if it could not be kept.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        match &self.kept {
            Some(path) => write!(f, "; it is kept as {}", path.display()),
            None => write!(f, "; it could not be kept"),
        }
    }
}

/// Why a step of the writer failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite refused.
    Sql(rusqlite::Error),
    /// A packed value is damaged.
    Blob {
        /// Its table.
        table: &'static str,
        /// Its row.
        id: i64,
        /// What is wrong.
        why: String,
    },
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl Fault {
    pub(crate) fn unpacked(table: &'static str, id: i64, why: &io::Error) -> Fault {
        Fault::Blob { table, id, why: format!("cannot be unpacked ({why})") }
    }
    pub(crate) fn decoded(table: &'static str, id: i64, why: DecodeError) -> Fault {
        Fault::Blob { table, id, why: why.to_string() }
    }
}
