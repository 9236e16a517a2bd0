//! Scheduling priority of a thread.
use std::fmt;

/// The priority that a thread obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// It runs as soon as it wakes: SCHED_FIFO, on Windows THREAD_PRIORITY_TIME_CRITICAL.
    RealTime,
    /// A nice value below 0.
    Nice(i32),
    /// Default priority.
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
