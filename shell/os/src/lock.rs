//! A lock that is released when its process ends, for whatever reason.
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// A locked file (`flock(2)`).
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Locks the file at `path`, creating it if necessary; `None` if another process holds the
    /// lock.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn take(path: &Path) -> io::Result<Option<Lock>> {
        let file = File::options().create(true).append(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that is being started shares the descriptor until it executes its program.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_he_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::take(&path).unwrap();
        assert!(first.is_some() && Lock::take(&path).unwrap().is_none());
        drop(first);
        assert!(Lock::take(&path).unwrap().is_some());
    }
}
