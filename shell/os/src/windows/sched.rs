//! Scheduling priority of the measuring thread.
pub use crate::priority::Priority;
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, SetThreadPriority, THREAD_PRIORITY_TIME_CRITICAL,
};

/// Gives the calling thread the highest permitted priority.
#[must_use]
pub fn raise_priority() -> Priority {
    // SAFETY: the handle of the calling thread is always valid.
    let done = unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) };
    if done != 0 { Priority::RealTime } else { Priority::Normal }
}
