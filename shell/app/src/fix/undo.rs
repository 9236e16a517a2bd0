//! The undoing of a fix, at any later time, and the watchdog that undoes one whose process died.
use super::status::unmeasured;
use super::{FixResult, places, require_root};
use crate::AppError;
use fathom_shaper::{Boot, Place, Restored, Undone, WatchdogEnd, run_watchdog};
use serde_json::json;
use std::path::Path;

/// What is undone.
pub struct UndoRequest<'a> {
    /// Directory of the states.
    pub state: &'a Path,
    /// One interface; all if `None`.
    pub interface: Option<&'a str>,
    /// The root of the system whose start is forgotten, too; left alone if `None`.
    pub boot_root: Option<&'a Path>,
}

/// What became of one interface.
#[derive(Clone, Debug)]
pub struct UndoneInterface {
    /// Its name.
    pub interface: String,
    /// What was undone.
    pub undone: Undone,
    /// What was started with the system is removed.
    pub is_boot_removed: bool,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct UndoReport {
    /// As a document.
    pub result: FixResult,
    /// Each interface.
    pub interfaces: Vec<UndoneInterface>,
}

/// Undoes the fix of one interface, or of all; and what the system would start.
///
/// # Errors
/// If an interface could not be restored. Its state is kept, for another try.
pub fn undo(request: &UndoRequest<'_>) -> Result<UndoReport, AppError> {
    require_root()?;
    let mut interfaces = Vec::new();
    for place in places(request.state, request.interface)? {
        let undone = fathom_shaper::undo(&place)?;
        let boot = request.boot_root.and_then(|root| Boot::of(root, &place.device).ok());
        let is_boot_removed = boot.map_or(Ok(false), |boot| boot.remove())?;
        interfaces.push(UndoneInterface { interface: place.device, undone, is_boot_removed });
    }
    let row = |one: &UndoneInterface| json!({ "interface": one.interface, "undone": name(&one.undone), "boot_removed": one.is_boot_removed });
    let rows = interfaces.iter().map(row).collect();
    let result = unmeasured(format!("{} interfaces were looked at.", interfaces.len()), rows);
    Ok(UndoReport { result, interfaces })
}

const fn name(undone: &Undone) -> &'static str {
    match undone {
        Undone::Nothing => "nothing",
        Undone::EarlierBoot => "earlier_boot",
        Undone::Back(Restored::Same) => "restored",
        Undone::Back(Restored::Gone) => "interface_gone",
    }
}

/// Waits for the end of the process that fixes an interface, and restores the interface if that process does not.
///
/// # Errors
/// If the interface could not be restored.
pub fn watch_over(state: &Path, interface: &str) -> Result<WatchdogEnd, AppError> {
    Ok(run_watchdog(&Place::new(state, interface))?)
}
