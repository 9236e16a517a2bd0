//! Entry points that the tests start as separate processes: this program, run with the name of one
//! of these tests and instructions in the environment. Without those they do nothing.
use crate::world::{request, watchdog_command};
use fathom_shaper::{Pace, Place, Transaction, run_watchdog};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) const FOLDER: &str = "FATHOM_TEST_FOLDER";
pub(crate) const SHAPER: &str = "FATHOM_TEST_RUNG";
pub(crate) const KILL_AT: &str = "FATHOM_TEST_KILL_AT";
pub(crate) const KILL_WATCHDOG: &str = "FATHOM_TEST_KILL_WATCHDOG";

fn place() -> Option<Place> {
    Some(Place::new(&PathBuf::from(std::env::var_os(FOLDER)?), "eth0"))
}

/// Runs the watchdog.
#[test]
fn watchdog() {
    if std::env::var_os(SHAPER).is_none()
        && let Some(place) = place()
    {
        run_watchdog(&place).unwrap();
    }
}

/// Applies a fix request by request and is killed before one of them. Otherwise prints the number
/// of requests.
#[test]
fn fix() {
    let (Some(kind), Some(place)) = (std::env::var_os(SHAPER), place()) else { return };
    let at: usize = std::env::var(KILL_AT).unwrap().parse().unwrap();
    let request = request(Some(kind.to_str().unwrap().parse().unwrap()));
    let mut transaction = Transaction::begin(&request, &place).unwrap();
    let mut ask = |count: usize, _: &_| {
        if count == at {
            if std::env::var_os(KILL_WATCHDOG).is_some() {
                kill_watchdog();
            }
            let me = std::process::id().to_string();
            Command::new("kill").args(["-KILL", &me]).status().unwrap();
        }
        Ok(())
    };
    transaction
        .apply_by(watchdog_command(&place), Duration::from_secs(60), Pace::Requests, &mut ask)
        .unwrap();
    transaction.roll_back("the test is over").unwrap();
}

/// Kills the processes started by this one.
fn kill_watchdog() {
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            Command::new("kill").args(["-KILL", child]).status().unwrap();
        }
    }
}
