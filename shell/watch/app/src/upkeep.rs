//! Checks, repairs and copies a history.
use crate::{HistorySource, open_history};
use fathom_app::AppError;
use fathom_os::clock::wall_now;
use fathom_watch_store::{HistoryReader, Recovered, Repair, Verified};
use std::path::{Path, PathBuf};

/// Progress of a repair.
#[derive(Debug)]
pub enum RepairEvent {
    /// A damaged item was moved aside.
    Repaired(Repair),
    /// A database that was moved aside was read.
    Recovered(PathBuf, Recovered),
    /// A database that was moved aside cannot be read.
    NotRecovered(PathBuf, String),
}

/// Reads a history completely, and changes nothing.
///
/// # Errors
/// If there is none, or it cannot be read at all.
pub fn verify(source: &HistorySource) -> Result<(PathBuf, Verified), AppError> {
    let directory = source.directory()?;
    let verified = HistoryReader::open(&directory).and_then(|mut reader| reader.verify());
    verified.map(|verified| (directory, verified)).map_err(AppError::history)
}

/// Moves damaged items of a history aside, and saves what can be read of databases that were moved
/// aside earlier. Returns the directory.
///
/// # Errors
/// If a watch is writing the history, or it cannot be written.
pub fn repair(source: &HistorySource, events: &mut dyn FnMut(RepairEvent)) -> Result<PathBuf, AppError> {
    let directory = source.directory()?;
    let mut history = open_history(&directory, None, &mut |repair| events(RepairEvent::Repaired(repair)))?;
    history.repair().into_iter().for_each(|repair| events(RepairEvent::Repaired(repair)));
    for damaged in history.damaged() {
        events(match history.recover(&damaged, wall_now()) {
            Ok(recovered) => RepairEvent::Recovered(damaged, recovered),
            Err(error) => RepairEvent::NotRecovered(damaged, error.to_string()),
        });
    }
    history.close(wall_now()).into_iter().for_each(|repair| events(RepairEvent::Repaired(repair)));
    match &history.status().trouble {
        Some(trouble) => Err(AppError::History(trouble.text.clone())),
        None => Ok(directory),
    }
}

/// Copies a history to a file, also while a watch is writing it.
///
/// # Errors
/// If there is no history, or the file exists or cannot be written.
pub fn back_up(source: &HistorySource, to: &Path) -> Result<(), AppError> {
    if to.exists() {
        return Err(AppError::OtherContent { path: to.to_owned() });
    }
    let mut reader = HistoryReader::open(&source.directory()?).map_err(AppError::history)?;
    reader.back_up(to).map_err(|error| AppError::History(error.to_string()))
}
