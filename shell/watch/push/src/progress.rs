//! Progress of each destination, for readers of a history that another process is sending.
use crate::cursor;
use fathom_units::WallTime;
use std::path::Path;

/// Progress of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Its name.
    pub name: String,
    /// Everything before this was sent or permanently refused; or why that is unknown.
    pub sent_until: Result<WallTime, String>,
}

/// Progress of all destinations to which a history was ever sent, in order of name. Read-only.
#[must_use]
pub fn progress(store: &Path) -> Vec<Progress> {
    let files = std::fs::read_dir(store).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<Progress> = files.filter_map(|file| of(&file)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn of(file: &Path) -> Option<Progress> {
    let name = cursor::name_of(file)?;
    let sent_until = std::fs::read(file).map_err(|error| error.to_string()).and_then(|bytes| {
        cursor::read(&bytes).map(|cursor| WallTime(cursor.upto_ms.saturating_mul(1_000_000)))
    });
    Some(Progress { name, sent_until })
}
