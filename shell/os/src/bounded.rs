//! Reads files no further than a limit.
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_read_up_to_the_limit() {
        let error = read_at_most(Path::new("/dev/zero"), 1_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_text_at_most(Path::new("/dev/null"), 0).unwrap(), "");
    }
}
