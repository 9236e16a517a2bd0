//! Confines a watch. It reads untrusted data for years, so it drops the right to write other files.
use crate::{Events, WatchEvent, archive};
use fathom_os::confine::drop_rights;
use fathom_watch_alert::Route;
use fathom_watch_plan::Plan;
use std::path::Path;

/// Drops the rights to write other files and to make system calls that a watch does not need, for
/// this thread and those that it starts. Scheduled tests write to `results`. A plan that runs
/// programs keeps the right, because its programs would inherit the restriction.
pub(super) fn confine(plan: &Plan, store: &Path, results: Option<&Path>, events: &Events) {
    if plan.receivers.iter().any(|receiver| runs_program(&receiver.route)) {
        return;
    }
    // The page creates the password file if there is none.
    let password = plan.password_file.as_ref().map(Path::new).filter(|file| !file.exists());
    // Those of other programs are only read.
    let results = results.filter(|_| !plan.tests.is_empty());
    let own = [Some(store), password.and_then(Path::parent), results].into_iter().flatten();
    // One that is missing is reported, and needs a restart.
    let folders: Vec<&Path> = own.chain(archive::folders(plan).filter(|path| path.is_dir())).collect();
    if let Err(error) = drop_rights(&folders) {
        events(WatchEvent::NotConfined(error));
    }
}

/// The first receiver of a reloaded plan that runs a program, if this process has dropped the right
/// to run programs.
pub(super) fn refused_receiver(first: &Plan, next: &Plan) -> Option<String> {
    let runs = |plan: &Plan| plan.receivers.iter().find(|receiver| runs_program(&receiver.route)).cloned();
    runs(next).filter(|_| runs(first).is_none()).map(|added| added.name)
}

const fn runs_program(route: &Route) -> bool {
    matches!(route, Route::Command(_) | Route::Mail { relay: None, .. })
}
