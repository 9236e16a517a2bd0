//! Progress of each archive, for readers of a history that another process is archiving.
use crate::cursor;
use fathom_units::WallTime;
use std::path::Path;

/// Progress of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Its name.
    pub name: String,
    /// What was sent; or why that is unknown.
    pub sent: Result<Sent, String>,
}

/// What an archive has sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The history before this was sent or permanently refused; `None` if nothing was yet.
    pub until: Option<WallTime>,
    /// Objects that were sent, including those that were sent again.
    pub objects: u64,
    /// Objects that the store refused permanently.
    pub refused: u64,
    /// Result files that were sent and still exist.
    pub results: u64,
}

/// Progress of all archives to which a history was ever sent, in order of name. Read-only.
#[must_use]
pub fn progress(store: &Path) -> Vec<Progress> {
    let files = std::fs::read_dir(store).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<Progress> = files.filter_map(|file| of(&file)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn of(file: &Path) -> Option<Progress> {
    let name = cursor::name_of(file)?;
    let bytes = std::fs::read(file).map_err(|error| error.to_string());
    let sent = bytes.and_then(|bytes| cursor::read(&bytes)).map(|cursor| Sent {
        until: Some(cursor.upto.start()).filter(|at| at.0 > 0),
        objects: cursor.objects,
        refused: cursor.refused,
        results: cursor.results.len() as u64,
    });
    Some(Progress { name, sent })
}
