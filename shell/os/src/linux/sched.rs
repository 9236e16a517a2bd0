//! Scheduling priority of the measuring thread.
pub use crate::priority::Priority;
use rustix::process::setpriority_process;
use std::io;

/// The lowest priority of SCHED_FIFO: above all ordinary threads, below the kernel's own.
const REAL_TIME_PRIORITY: i32 = 1;
const NICE: i32 = -10;

/// Gives the calling thread the highest permitted priority.
#[must_use]
pub fn raise_priority() -> Priority {
    if set_real_time().is_ok() {
        Priority::RealTime
    } else if set_nice().is_ok() {
        Priority::Nice(NICE)
    } else {
        Priority::Normal
    }
}

/// Returns the calling thread from real-time to normal priority. It can be raised again.
///
/// # Errors
/// See `sched_setscheduler(2)`.
pub fn drop_realtime_priority() -> io::Result<()> {
    set_scheduler(libc::SCHED_OTHER, 0)
}

fn set_real_time() -> io::Result<()> {
    set_scheduler(libc::SCHED_FIFO, REAL_TIME_PRIORITY)
}

fn set_scheduler(policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: a sched_param consists of integers.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority;
    // SAFETY: `parameter` is valid for the call; 0 is the calling thread. Children do not inherit
    // it.
    let failed =
        unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const parameter) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_nice() -> io::Result<()> {
    // On Linux this sets the calling thread, not its process.
    Ok(setpriority_process(None, NICE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_on_with_whatever_it_was_given() {
        let given = std::thread::spawn(|| {
            let given = raise_priority();
            drop_realtime_priority().unwrap();
            assert_eq!(raise_priority(), given, "after giving it up");
            given
        });
        assert!(!given.join().unwrap().to_string().is_empty());
    }
}
