//! How far the history was written, in a separate file.
//!
//! SQLite ends its write-ahead log at the first damaged frame, and drops the rest without an error.
//! This file shows that there was more. It is written after each transaction, without `fsync`: it
//! may be late, but is never ahead of the log, which is synced.
use fathom_units::WallTime;
use fathom_watch_samples::checksum;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

const FILE: &str = "written";
/// Length of the file: two numbers of 20 digits and a checksum of 8.
const LENGTH: usize = 51;

/// The last transaction with samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    /// Number of its journal frame. Numbers only increase.
    pub(crate) frame: i64,
    /// Its time.
    pub(crate) at: WallTime,
}

impl Written {
    /// `None` if there is no valid file.
    pub(crate) fn read(dir: &Path) -> Option<Written> {
        let mut bytes = [0; LENGTH];
        File::open(dir.join(FILE)).ok()?.read_exact_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let mut words = text.split_whitespace();
        let (frame, at) = (words.next()?.parse().ok()?, WallTime(words.next()?.parse().ok()?));
        let written = Written { frame, at };
        (written.text() == text).then_some(written)
    }
    fn text(self) -> String {
        let numbers = format!("{:020} {:020}", self.frame, self.at.0);
        format!("{numbers} {:08x}\n", checksum(numbers.as_bytes()))
    }
    /// Replaces the file in place: an incomplete one is not valid.
    pub(crate) fn save(self, dir: &Path) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(dir.join(FILE))?;
        (&file).write_all(self.text().as_bytes())
    }
    /// Removes the file, before another database is begun.
    pub(crate) fn forget(dir: &Path) {
        let _ = std::fs::remove_file(dir.join(FILE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Written::read(dir.path()), None);
        let written = Written { frame: 77, at: WallTime(1_767_571_200_000_000_000) };
        written.save(dir.path()).unwrap();
        assert_eq!(Written::read(dir.path()), Some(written));
        let whole = std::fs::read(dir.path().join(FILE)).unwrap();
        assert_eq!(whole.len(), LENGTH);
        for at in 0..LENGTH {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(dir.path().join(FILE), &changed).unwrap();
            assert_eq!(Written::read(dir.path()), None, "byte {at}");
            std::fs::write(dir.path().join(FILE), &whole[..at]).unwrap();
            assert_eq!(Written::read(dir.path()), None, "{at} bytes");
        }
        Written::forget(dir.path());
        assert_eq!(Written::read(dir.path()), None);
    }
}
