//! A temporary directory of one test.
use std::path::{Path, PathBuf};

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder below the build directory");
        Scratch(folder)
    }
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
    /// Writes a file and creates its directories.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let to = self.0.join(path);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::write(to, bytes).expect("a file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
