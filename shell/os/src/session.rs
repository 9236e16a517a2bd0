//! Processes that outlive their parent: in a session of their own, Ctrl-C and a closed terminal do not reach them.
use rustix::process::setsid;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets `command` begin a session of its own when it is started.
pub fn start_new_session(command: &mut Command) -> &mut Command {
    // SAFETY: the hook runs between fork and exec and makes one system call: no allocation, no lock.
    unsafe { command.pre_exec(|| Ok(setsid().map(drop)?)) }
}
