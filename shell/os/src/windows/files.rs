//! Reading files safely.
pub use crate::bounded::{read_at_most, read_text_at_most};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

/// Creates a file, which inherits the permissions of its folder. It must not exist.
///
/// # Errors
/// See `CreateFile`.
pub fn create_new(path: &Path, _mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Reads bytes of a file from an offset. Returns their number.
///
/// # Errors
/// See `ReadFile`.
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(into, offset)
}

/// Windows has no limit of open sockets that a program could raise.
///
/// # Errors
/// None.
pub const fn raise_limit() -> io::Result<u64> {
    Ok(u64::MAX)
}
