//! Temporary files, of which a killed process leaves none for long.
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the next temporary file of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The temporary files of one archive: `PREFIX-PROCESS-NUMBER.tmp`.
pub(crate) struct TemporaryFiles {
    dir: PathBuf,
    prefix: String,
}

/// A temporary file, removed when this is dropped.
pub(crate) struct TemporaryFile {
    pub(crate) path: PathBuf,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // It is gone if it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

impl TemporaryFiles {
    pub(crate) fn new(dir: &Path, prefix: String) -> TemporaryFiles {
        TemporaryFiles { dir: dir.to_owned(), prefix }
    }
    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
    /// Creates a new file.
    pub(crate) fn create(&self) -> io::Result<(TemporaryFile, File)> {
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = self.dir.join(format!("{}-{process}-{number}.tmp", self.prefix));
        // An earlier process may have had the same number.
        let _ = fs::remove_file(&path);
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok((TemporaryFile { path }, file))
    }
    /// Removes the files of earlier processes.
    pub(crate) fn clear(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| self.is_own(name)))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
    fn is_own(&self, name: &str) -> bool {
        let middle = name.strip_prefix(&self.prefix).and_then(|rest| rest.strip_prefix('-'));
        let numbers = middle.and_then(|rest| rest.strip_suffix(".tmp")).and_then(|rest| rest.split_once('-'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_files_of_earlier_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let files = TemporaryFiles::new(dir.path(), "archive-a".into());
        let (used, _) = files.create().unwrap();
        assert!(used.path.exists());
        std::mem::forget(used);
        let others = ["archive-a-1-2-3.tmp", "archive-a-1.tmp", "archive-a.json", "archive-a-1-2.parquet"];
        others.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        files.clear();
        let left = || fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left(), others.len());
        drop(files.create().unwrap());
        assert_eq!(left(), others.len());
    }
}
