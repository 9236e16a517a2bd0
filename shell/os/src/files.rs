//! How many files and sockets this process may have open; files that cannot make it wait.
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read it, without waiting for whatever has been put in its place meanwhile.
///
/// # Errors
/// As `open(2)`; `InvalidInput` if it is no regular file.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
    }
}

/// Raises the limit to what the system lets this process have, and returns it: the usual 1,024 is for programs that use
/// select(2), which this one does not.
///
/// # Errors
/// As `getrlimit(2)` and `setrlimit(2)`.
pub fn raise_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid through the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` is valid through the call, and only read.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_what_may_be_had_and_stays() {
        let first = raise_limit().unwrap();
        assert!(first > 0);
        assert_eq!(raise_limit().unwrap(), first);
    }
}
