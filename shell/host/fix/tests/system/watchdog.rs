//! The watchdog is this program, run with the name of this test. Without a directory in the
//! environment it does nothing.
use fathom_shaper::{Place, run_watchdog};
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "FATHOM_TEST_FOLDER";

#[test]
fn runs() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        run_watchdog(&Place::new(Path::new(&folder), crate::modem::DEVICE)).unwrap();
    }
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.stderr(std::process::Stdio::null());
    command.args(["--exact", "watchdog::runs", "--nocapture"]).env(FOLDER, folder);
    command
}
