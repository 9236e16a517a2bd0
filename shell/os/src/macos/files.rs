//! Limit of open files, and reading files safely.
pub use crate::bounded::{read_at_most, read_text_at_most};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The kernel refuses a higher limit, although the hard one is said to be infinite. Source:
/// bsd/sys/syslimits.h, OPEN_MAX.
const MOST_FILES: libc::rlim_t = 10_240;

/// Creates a file with these permissions. It must not exist.
///
/// # Errors
/// See `open(2)`.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Reads bytes of a file from an offset, without its position. Returns their number.
///
/// # Errors
/// See `pread(2)`.
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(into, offset)
}

/// Raises the soft limit of open files, usually 256, and returns it.
///
/// # Errors
/// See `getrlimit(2)`.
pub fn raise_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is valid for the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let wanted = limit.rlim_max.min(MOST_FILES);
    if limit.rlim_cur < wanted {
        limit.rlim_cur = wanted;
        // SAFETY: as above.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(limit.rlim_cur)
}
