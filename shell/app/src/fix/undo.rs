//! Rolls back a fix at a later time, and runs the watchdog that rolls back if the process of a fix
//! dies.
use super::status::unmeasured;
use super::{FixResult, places, require_root};
use crate::AppError;
use fathom_shaper::{Boot, Place, Restored, Undone, WatchdogEnd, run_watchdog};
use fathom_text::counted;
use serde_json::json;
use std::path::Path;

/// A request to roll back.
pub struct UndoRequest<'a> {
    /// Directory of the rollback state.
    pub state: &'a Path,
    /// The interface. `None` is all interfaces.
    pub interface: Option<&'a str>,
    /// Root directory of the system. What starts the shaper with the system is removed there.
    /// `None` leaves it.
    pub boot_root: Option<&'a Path>,
}

/// The rollback of one interface.
#[derive(Clone, Debug)]
pub struct UndoneInterface {
    /// The name.
    pub interface: String,
    /// What was rolled back.
    pub undone: Undone,
    /// Whether the file that started the shaper with the system was removed.
    pub is_boot_removed: bool,
}

/// The result of a rollback.
#[derive(Clone, Debug)]
pub struct UndoReport {
    /// The result as a document.
    pub result: FixResult,
    /// Each interface.
    pub interfaces: Vec<UndoneInterface>,
}

/// Rolls back one interface or all, and removes what would start with the system.
///
/// # Errors
/// If an interface could not be restored. Its state is kept for another attempt.
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
    let checked = counted(interfaces.len() as u64, "interface was", "interfaces were");
    let result = unmeasured(format!("{checked} checked for a fix."), rows);
    Ok(UndoReport { result, interfaces })
}

const fn name(undone: &Undone) -> &'static str {
    match undone {
        Undone::Nothing => "nothing",
        Undone::EarlierBoot => "earlier_boot",
        Undone::Back(Restored::Same) => "restored",
        Undone::Back(Restored::Kept(_)) => "changes_kept",
        Undone::Back(Restored::Gone) => "interface_gone",
    }
}

/// Waits for the process that fixes an interface to end, and restores the interface if that process
/// has not done so.
///
/// # Errors
/// If the interface could not be restored.
pub fn watch_over(state: &Path, interface: &str) -> Result<WatchdogEnd, AppError> {
    Ok(run_watchdog(&Place::new(state, interface))?)
}
