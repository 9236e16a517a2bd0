//! Socket options missing from std and socket2.
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sets option `name` of `level` (`SOL_SOCKET` or a protocol) to plain data.
///
/// # Errors
/// See `setsockopt(2)`.
pub(super) fn set<T: Copy>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: T,
) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is on the stack for the duration of the call and `length` bytes long.
    let failed = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), length) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
