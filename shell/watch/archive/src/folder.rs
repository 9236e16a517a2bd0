//! A directory as an object store.
use crate::answer::{Answer, Failure};
use crate::archive::Archive;
use crate::object::encoded;
use crate::place::Place;
use crate::temporary::TemporaryFiles;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A directory. Temporary files are in it, so that they can be renamed.
pub(crate) struct Folder {
    root: PathBuf,
    temporary: TemporaryFiles,
}

impl Folder {
    pub(crate) fn new(root: &Path, archive: &Archive) -> Folder {
        // Sites may share a directory.
        let prefix = format!(".archive-{}-{}", encoded(&archive.site), archive.name);
        Folder { root: root.to_owned(), temporary: TemporaryFiles::new(root, prefix) }
    }
    /// Renames the file. After a power failure it is there or not, and complete.
    fn rename(&self, file: &Path, to: &Path) -> io::Result<()> {
        File::open(file)?.sync_all()?;
        let parent = to.parent().unwrap_or(&self.root);
        let is_new = !parent.exists();
        // The root is there, because the temporary file is.
        fs::create_dir_all(parent)?;
        fs::rename(file, to)?;
        let depth = if is_new { usize::MAX } else { 1 };
        let mut changed = parent.ancestors().take(depth).take_while(|dir| dir.starts_with(&self.root));
        changed.try_for_each(|dir| File::open(dir)?.sync_all())
    }
}

impl Place for Folder {
    fn put(&mut self, key: &str, file: &Path) -> Answer {
        let to = self.root.join(key);
        match self.rename(file, &to) {
            Ok(()) => Answer::Accepted,
            Err(error) => Failure::of_file(&to, &error).into(),
        }
    }
    fn temporary(&self) -> &TemporaryFiles {
        &self.temporary
    }
    fn takes_files(&self) -> bool {
        true
    }
}
