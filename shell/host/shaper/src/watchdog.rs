//! The watchdog: a separate process that restores an interface if the process that changes it dies
//! or takes too long.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::place::Place;
use crate::restore::{Restored, restore};
use crate::state::{Phase, State};
use crate::state_dir::Lock;
use fathom_os::session;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Printed by the watchdog when it is ready.
const READY: &str = "fathom: watchdog ready";
/// Byte on standard input that ends the watchdog after a commit or rollback.
const DISMISSED: u8 = b'.';
/// Timeout of the watchdog's start.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum wait for the watchdog to end.
const LEAVE: Duration = Duration::from_secs(2);
/// Maximum wait for the lock. A dead process releases it at once; another fix that holds it
/// restores the interface itself.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The watchdog, as seen by the process it watches. The pipe between them closes when that process
/// ends.
#[derive(Debug)]
pub(crate) struct Watchdog {
    child: Child,
}

impl Watchdog {
    /// Starts the watchdog in its own session and waits until it is ready.
    pub(crate) fn start(mut command: Command) -> Result<Watchdog, ApplyError> {
        let doing = || format!("watchdog {}", command_line(&command));
        let (doing, ready) = (doing(), channel());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            session::start_new_session(&mut command).spawn().map_err(ApplyError::system(&doing))?;
        let Some(stdout) = child.stdout.take() else {
            return Err(ApplyError::words(doing, "no output"));
        };
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let _ = ready.0.send(lines.any(|line| line.ends_with(READY)));
        });
        if ready.1.recv_timeout(PATIENCE) == Ok(true) {
            return Ok(Watchdog { child });
        }
        // It may already have ended.
        let _ = child.kill();
        let _ = child.wait();
        Err(ApplyError::words(doing, "did not start; nothing was changed"))
    }
    /// Dismisses the watchdog and waits a limited time for it to exit.
    pub(crate) fn dismiss(mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            let _ = stdin.write_all(&[DISMISSED]);
        }
        let begun = Instant::now();
        while begun.elapsed() < LEAVE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

fn command_line(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// How a watchdog ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WatchdogEnd {
    /// It was dismissed, or the fix had been committed or rolled back by another process.
    Dismissed,
    /// The watched process ended; the interface was restored.
    Orphaned(Restored),
    /// The watched process exceeded its time limit; the interface was restored.
    Overdue(Restored),
}

/// Main function of the watchdog process that [`Transaction::apply`](crate::Transaction::apply)
/// starts. It prints a line to standard output when it is ready; a byte on standard input dismisses
/// it.
///
/// # Errors
/// If there is no trial to watch, or what could not be restored.
pub fn run_watchdog(place: &Place) -> Result<WatchdogEnd, ApplyError> {
    let Some(state) = place.read()? else {
        return Err(ApplyError::words(place.file().display().to_string(), "no fix to watch"));
    };
    // Opened now, because later there may be no descriptors.
    let mut kernel = Kernel::open()?;
    let words = words_of(io::stdin());
    let mut out = io::stdout();
    writeln!(out, "{READY}").and_then(|()| out.flush()).map_err(ApplyError::system("standard output"))?;
    match words.recv_timeout(Duration::from_millis(state.limit_ms)) {
        Ok(DISMISSED) => Ok(WatchdogEnd::Dismissed),
        Err(RecvTimeoutError::Timeout) => put_back(&mut kernel, place, &state, "the time limit was exceeded")
            .map(|r| r.map_or(WatchdogEnd::Dismissed, WatchdogEnd::Overdue)),
        Ok(_) | Err(RecvTimeoutError::Disconnected) => {
            // A dead process releases its lock. A new process that holds it restores the interface
            // before it begins.
            let _lock = wait_for_lock(place);
            put_back(&mut kernel, place, &state, "its process ended")
                .map(|r| r.map_or(WatchdogEnd::Dismissed, WatchdogEnd::Orphaned))
        }
    }
}

/// Bytes as they are read; the channel closes with the pipe.
fn words_of(mut from: impl Read + Send + 'static) -> Receiver<u8> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(from.read(&mut byte), Ok(1)) {
            if sender.send(byte[0]).is_err() {
                return;
            }
        }
    });
    receiver
}

fn wait_for_lock(place: &Place) -> Option<Lock> {
    let begun = Instant::now();
    while begun.elapsed() < LOCK_PATIENCE {
        match place.lock() {
            Ok(Some(lock)) => return Some(lock),
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Err(_) => return None,
        }
    }
    None
}

/// Restores the interface if the same trial is still open; committed or finished ones are left
/// alone.
fn put_back(
    kernel: &mut Kernel,
    place: &Place,
    guarded: &State,
    why: &str,
) -> Result<Option<Restored>, ApplyError> {
    let is_open = |state: &State| state.id == guarded.id && state.phase == Phase::Trial;
    if !place.read()?.as_ref().is_some_and(is_open) {
        return Ok(None);
    }
    let restored = restore(kernel, guarded)?;
    place.forget(why)?;
    Ok(Some(restored))
}
