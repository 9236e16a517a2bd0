//! Scheduling priority of the measuring thread.
pub use crate::priority::Priority;
use std::io;

/// Gives the calling thread the quality of service of what users wait for, which needs no
/// permission. It still is a normal priority.
#[must_use]
pub fn raise_priority() -> Priority {
    drop(set_interactive());
    Priority::Normal
}

pub(super) fn set_interactive() -> io::Result<()> {
    // SAFETY: it takes two numbers, and concerns the calling thread.
    let code =
        unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE, 0) };
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
