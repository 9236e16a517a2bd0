//! Processes that outlive their parent: in their own session, Ctrl-C and a closed terminal do not
//! reach them.
use rustix::process::setsid;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes `command` start in a new session.
pub fn start_new_session(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec the hook makes one system call: no allocation, no lock.
    unsafe { command.pre_exec(|| Ok(setsid().map(drop)?)) }
}
