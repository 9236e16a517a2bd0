//! How far each destination is, for whoever looks at a history while another process sends it.
use crate::cursor;
use fathom_units::WallTime;
use std::path::Path;

/// How far a destination is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Its name.
    pub name: String,
    /// Everything before this was sent, or refused for good; or why that is not known.
    pub sent_until: Result<WallTime, String>,
}

/// Of all destinations that a history was ever sent to, in the order of their names. Changes nothing.
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
