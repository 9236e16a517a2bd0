//! Shapes an interface: to given rates, to rates that are searched for and verified, or to rates
//! that follow the line. Also the status of shapers, and their rollback.
mod apply;
mod autorate;
mod error;
mod export;
mod progress_log;
mod search;
mod sqm;
mod status;
mod undo;

pub use apply::{Applied, ApplyRequest, Duty, Looks, apply};
pub use autorate::{AutorateRequest, Autorated, autorate};
pub use error::FixFailure;
pub use export::{ExportRequest, Exported, export};
pub use fathom_shaper_export::Platform;
pub use progress_log::{ProgressLog, cuts};
pub use search::{SearchRequest, Searched, search};
pub use sqm::{enabled_sqm, replace_sqm, restore_sqm};
pub use status::{InterfaceStatus, ShaperState, SideStatus, StatusReport, counters, status};
pub use undo::{UndoReport, UndoRequest, UndoneInterface, undo, watch_over};

use crate::AppError;
use fathom_client::Event as TestEvent;
use fathom_diagnose::Diagnosis;
use fathom_fix::auto::Status;
use fathom_os::userns;
use fathom_report::{CommandDocument, FixData, command_document};
use fathom_run::Finding;
use fathom_shape::fix::Event;
use fathom_shaper::{Boot, Place, Plan, conflicts};
use fathom_tc::is_interface_name;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates the command of the watchdog process, which restores the interface if this process dies.
pub type Watchdog<'a> = &'a dyn Fn() -> Command;

/// Progress of a fix.
#[derive(Debug)]
pub enum FixProgress<'a> {
    /// Conflicts with a shaper on this interface, found before anything is changed.
    Conflicts(&'a [Finding]),
    /// A note on the state of an earlier fix: it was rolled back or could not be used.
    Note(&'a str),
    /// The plan, with its undo commands.
    Plan(&'a Plan),
    /// The shaper is on. It is rolled back after the requested time.
    Holding,
    /// Diagnosis of the line without a shaper.
    Baseline(&'a Diagnosis),
    /// A step of a search.
    Step(&'a Event),
    /// The checks of an attempt.
    Checks(&'a [Finding]),
    /// An event of the running test.
    Test(&'a TestEvent),
    /// Autorate has decided on both rates.
    Tick(&'a Status),
}

/// The result of a command of `fathom fix`, as in its document.
#[derive(Clone, Debug)]
pub struct FixResult {
    /// The headline: one sentence.
    pub headline: String,
    /// Checks, conflicts, and the diagnosis of the line.
    pub diagnosis: Diagnosis,
    /// What was done.
    pub data: FixData,
}

impl FixResult {
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        command_document("fix", self.headline.clone(), &self.diagnosis, ("fix", &self.data))
    }
}

/// A request to apply the fix again when the system starts.
pub struct BootRequest<'a> {
    /// Root directory of the system.
    pub root: &'a Path,
    /// Creates the commands that apply a plan and undo it.
    pub commands: &'a dyn Fn(&Plan) -> BootCommands,
}

/// The commands that the system runs at its start and stop, as words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BootCommands {
    /// Applies the fix.
    pub apply: Vec<String>,
    /// Undoes it.
    pub undo: Vec<String>,
}

/// The file that applies the fix at system start, not written yet.
struct BootFile {
    boot: Boot,
    text: String,
}

impl BootFile {
    /// The file for `plan`. Fails if the system has no place for it.
    fn new(request: &BootRequest<'_>, plan: &Plan) -> Result<BootFile, AppError> {
        let boot = Boot::of(request.root, &plan.device)?;
        let BootCommands { apply, undo } = (request.commands)(plan);
        let text = boot.text(&plan.device, &apply, &undo);
        Ok(BootFile { boot, text })
    }
    fn write(self) -> Result<PathBuf, AppError> {
        self.boot.write(&self.text)?;
        Ok(self.boot.file)
    }
}

/// Fails unless this process may change queues.
fn require_root() -> Result<(), AppError> {
    if userns::is_privileged() { Ok(()) } else { Err(FixFailure::NotRoot.into()) }
}

/// Fails if no interface of this host can have the name.
///
/// # Errors
/// The name.
pub fn check_interface(named: Option<&str>) -> Result<(), AppError> {
    match named.filter(|name| !is_interface_name(name)) {
        Some(name) => Err(FixFailure::Interface(name.to_owned()).into()),
        None => Ok(()),
    }
}

/// The given interface, or the interface of the only default route.
///
/// # Errors
/// If there is no default route, or there are several.
pub fn choose_interface(named: Option<&str>) -> Result<String, AppError> {
    if let Some(name) = named {
        return Ok(name.to_owned());
    }
    let mut routes = conflicts::default_routes(Path::new("/"));
    match (routes.pop(), routes.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(FixFailure::NoDefaultRoute.into()),
        (Some(last), false) => {
            routes.push(last);
            Err(FixFailure::SeveralDefaultRoutes(routes).into())
        }
    }
}

/// The state of one interface, or of all that have one.
fn places(folder: &Path, interface: Option<&str>) -> Result<Vec<Place>, AppError> {
    Ok(match interface {
        Some(interface) => vec![Place::new(folder, interface)],
        None => Place::all(folder)?,
    })
}
