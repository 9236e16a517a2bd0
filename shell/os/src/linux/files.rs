//! Limit of open files, and reading files safely.
pub use crate::bounded::{read_at_most, read_text_at_most};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file for reading. Does not block if the path was replaced by a pipe or device.
///
/// # Errors
/// See `open(2)`; `InvalidInput` if it is not a regular file.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

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

/// Raises the soft limit of open files to the hard limit and returns it. The usual 1,024 exists for
/// programs that use select(2), which this one does not.
///
/// # Errors
/// See `setrlimit(2)`.
pub fn raise_limit() -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    // `None` means unlimited.
    Ok(limit.maximum.unwrap_or(u64::MAX))
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
