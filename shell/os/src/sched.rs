//! Priority of the thread that measures.
use rustix::process::setpriority_process;
use std::fmt;
use std::io;

/// What a thread was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// SCHED_FIFO: it runs as soon as it wakes.
    RealTime,
    /// More weight than others.
    Nice(i32),
    /// Nothing more than others.
    Normal,
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Priority::RealTime => write!(f, "real time"),
            Priority::Nice(n) => write!(f, "nice {n}"),
            Priority::Normal => write!(f, "normal"),
        }
    }
}

/// Of SCHED_FIFO the lowest: above all ordinary threads, below the kernel's own.
const REAL_TIME_PRIORITY: i32 = 1;
const NICE: i32 = -10;

/// Gives the calling thread the highest priority that is permitted.
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

/// Takes real-time priority from the calling thread. It may ask for it again.
///
/// # Errors
/// As `sched_setscheduler(2)`.
pub fn drop_realtime_priority() -> io::Result<()> {
    set_scheduler(libc::SCHED_OTHER, 0)
}

fn set_real_time() -> io::Result<()> {
    set_scheduler(libc::SCHED_FIFO, REAL_TIME_PRIORITY)
}

fn set_scheduler(policy: i32, priority: i32) -> io::Result<()> {
    // SAFETY: a sched_param is integers only.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority;
    // SAFETY: `parameter` is valid through the call; 0 is the calling thread. Its children do not inherit it.
    let failed =
        unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const parameter) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_nice() -> io::Result<()> {
    // On Linux that is the calling thread, not its process.
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
