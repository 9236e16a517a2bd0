//! A shaper on an interface: at rates that are given, at rates that are searched and verified, or at rates that follow the line; which
//! shapers are on; and their undoing.
mod apply;
mod autorate;
mod error;
mod search;
mod status;
mod undo;

pub use apply::{Applied, ApplyRequest, Duty, Looks, apply};
pub use autorate::{AutorateRequest, Autorated, autorate};
pub use error::FixFailure;
pub use search::{SearchRequest, Searched, search};
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
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the command of the process that restores the interface if this one dies.
pub type Watchdog<'a> = &'a dyn Fn() -> Command;

/// What a fix reports on the way.
#[derive(Debug)]
pub enum FixProgress<'a> {
    /// What conflicts with a shaper on this interface, before anything is changed.
    Conflicts(&'a [Finding]),
    /// What an earlier fix left was rolled back, or could not be used: in words.
    Note(&'a str),
    /// This is going to be done, with its undo commands.
    Plan(&'a Plan),
    /// The shaper is on, and is rolled back after the requested time.
    Holding,
    /// The line without a shaper.
    Baseline(&'a Diagnosis),
    /// A step of a search.
    Step(&'a Event),
    /// The checks of an attempt.
    Checks(&'a [Finding]),
    /// An event of the running test.
    Test(&'a TestEvent),
    /// Autorate has set both rates, or kept them.
    Tick(&'a Status),
}

/// What a command of fix did or found, as its document has it.
#[derive(Clone, Debug)]
pub struct FixResult {
    /// One sentence.
    pub headline: String,
    /// Checks, conflicts, and the line.
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

/// A fix that the system makes again when it starts.
pub struct BootRequest<'a> {
    /// The root of the system that starts.
    pub root: &'a Path,
    /// The commands that make this plan and undo it.
    pub commands: &'a dyn Fn(&Plan) -> BootCommands,
}

/// Words of the two commands of a system that starts and stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BootCommands {
    /// Makes the fix.
    pub apply: Vec<String>,
    /// Undoes it.
    pub undo: Vec<String>,
}

/// A file for the start of the system, not written yet.
struct BootFile {
    boot: Boot,
    text: String,
}

impl BootFile {
    /// The file of a plan; fails if the system has no place for it.
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

/// Queues can be changed by root only.
fn require_root() -> Result<(), AppError> {
    if userns::is_privileged() { Ok(()) } else { Err(FixFailure::NotRoot.into()) }
}

/// The interface that is named, or that of the only default route.
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

/// The places of one interface, or of all that have a state.
fn places(folder: &Path, interface: Option<&str>) -> Result<Vec<Place>, AppError> {
    Ok(match interface {
        Some(interface) => vec![Place::new(folder, interface)],
        None => Place::all(folder)?,
    })
}
