//! A folder with the rows of a sweep: one Parquet file for each range of cells.
//!
//! A file is complete or not there, so what exists is what is done. Nothing else is recorded, and
//! any number of processes may be killed at any time.
use crate::description::Description;
use crate::table::TableError;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Name of the file that describes the sweep. Libraries that read a folder as one
/// table ignore names that begin with `_` or `.`.
const DESCRIPTION: &str = "_sweep.json";
/// Maximum size of that file, in bytes. Its largest parts are files that a scenario names.
const MAX_DESCRIPTION_BYTES: u64 = 1 << 30;

/// The folder of a sweep.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    description: Description,
}

impl Folder {
    /// Creates the folder, or opens that of the same sweep.
    ///
    /// # Errors
    /// If it has another sweep, or cannot be read or written.
    pub fn open(path: &Path, description: Description) -> Result<Self, TableError> {
        let failed = |error| TableError::Io(path.to_owned(), error);
        fs::create_dir_all(path).map_err(failed)?;
        let file = path.join(DESCRIPTION);
        let differences = match read(&file).map_err(failed)? {
            Some(other) => description.differences(&other),
            // Without a description, the files may be of any sweep.
            None if !parts(path).map_err(failed)?.is_empty() => vec![DESCRIPTION.to_owned()],
            None => {
                let text = serde_json::to_string_pretty(&description)
                    .map_err(|error| failed(io::Error::other(error)))?;
                fathom_store::replace(&file, (text + "\n").as_bytes()).map_err(failed)?;
                Vec::new()
            }
        };
        if differences.is_empty() {
            return Ok(Folder { path: path.to_owned(), description });
        }
        Err(TableError::OtherSweep { path: path.to_owned(), differences })
    }
    /// Removes the files of any sweep, and leaves others.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove(path: &Path) -> Result<(), TableError> {
        let remove = || match parts(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            found => found?.iter().chain([&path.join(DESCRIPTION)]).try_for_each(|file| gone(file)),
        };
        remove().map_err(|error| TableError::Io(path.to_owned(), error))
    }
    /// The sweep.
    pub const fn description(&self) -> &Description {
        &self.description
    }
    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The path of a file. Names sort in the order of the cells.
    fn path_of(&self, file: u64) -> PathBuf {
        self.path.join(format!("part-{:09}.parquet", self.description.cells_of(file).start))
    }
    /// Whether a file exists.
    pub fn has(&self, file: u64) -> bool {
        self.path_of(file).exists()
    }
    /// The first missing file with at least this number.
    pub fn next_missing(&self, from: u64) -> Option<u64> {
        (from..self.description.files()).find(|file| !self.has(*file))
    }
    /// Writes a file, completely or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: u64, bytes: &[u8]) -> Result<(), TableError> {
        let path = self.path_of(file);
        fathom_store::replace(&path, bytes).map_err(|error| TableError::Io(path, error))
    }
}

/// Removes a file if it exists.
fn gone(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The description in a folder, if there is one. What is not a description differs from every
/// description.
fn read(file: &Path) -> io::Result<Option<serde_json::Value>> {
    let length = match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?.len(),
    };
    let text = if length > MAX_DESCRIPTION_BYTES { Vec::new() } else { fs::read(file)? };
    Ok(Some(serde_json::from_slice(&text).unwrap_or_default()))
}

/// The files with rows in a folder.
fn parts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("part-") && name.ends_with(".parquet")
    };
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    paths.filter(|path| path.as_ref().map_or(true, is_part)).collect()
}
