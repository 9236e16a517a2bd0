//! Limit of open files, and reading files safely.
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
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

/// The bytes of a file, which can be a pipe or a device.
///
/// # Errors
/// See `open(2)` and `read(2)`; `FileTooLarge` if there are more than `max_bytes`, of which no more
/// are read.
pub fn read_at_most(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        let limit = format!("larger than the limit of {max_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
    }
    Ok(bytes)
}

/// The text of a file, as [`read_at_most`].
///
/// # Errors
/// As [`read_at_most`]; `InvalidData` if it is not UTF-8.
pub fn read_text_at_most(path: &Path, max_bytes: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text");
    String::from_utf8(read_at_most(path, max_bytes)?).map_err(not_text)
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
    fn an_endless_file_is_read_up_to_the_limit() {
        let error = read_at_most(Path::new("/dev/zero"), 1_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_text_at_most(Path::new("/dev/null"), 0).unwrap(), "");
    }

    #[test]
    fn the_limit_is_what_may_be_had_and_stays() {
        let first = raise_limit().unwrap();
        assert!(first > 0);
        assert_eq!(raise_limit().unwrap(), first);
    }
}
