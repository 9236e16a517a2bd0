//! A lock that ends with the process that holds it, however that ends.
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// A locked file (`flock(2)`).
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of the file at `path`, which is made if it is not there; `None` if another has it.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn take(path: &Path) -> io::Result<Option<Lock>> {
        let file = File::options().create(true).append(true).open(path)?;
        // SAFETY: flock takes integers; the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(Some(Lock { file }));
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is just being started has the descriptor too, until it executes its program.
        // SAFETY: flock takes integers; the descriptor is open.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_he_is_gone() {
        let path = std::env::temp_dir().join(format!("fathom-lock-{}", std::process::id()));
        let first = Lock::take(&path).unwrap();
        assert!(first.is_some() && Lock::take(&path).unwrap().is_none());
        drop(first);
        assert!(Lock::take(&path).unwrap().is_some());
        std::fs::remove_file(path).unwrap();
    }
}
