//! Processes that outlive their parent: in a session of their own, Ctrl-C and a closed terminal do not reach them.
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets `command` begin a session of its own when it is started.
pub fn of_its_own(command: &mut Command) -> &mut Command {
    // SAFETY: the hook runs between fork and exec and makes one system call: no allocation, no lock.
    unsafe {
        command.pre_exec(|| if libc::setsid() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) })
    }
}
