//! The registry in a folder, which the gateway and administrators change at the same time.
//!
//! A process that changes it holds a lock (`flock(2)`), reads what others wrote to the journal,
//! decides, writes its line to the disk, and only then answers.
use crate::journal::{Journal, News};
use fathom_fleet_admission::{Change, Registry, RegistryError};
use fathom_os::error::without_code;
use rustix::fs::{FlockOperation, flock};
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// Why the registry cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "registry {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for StateError {}

/// Why the registry was not changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeError {
    /// It refuses the change.
    Refused(RegistryError),
    /// It cannot be read or written.
    State(StateError),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeError::Refused(error) => error.fmt(f),
            ChangeError::State(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChangeError {}

/// The registry of a folder.
pub(crate) struct RegistryFile {
    path: PathBuf,
    lock: File,
    journal: Mutex<Journal>,
    registry: RwLock<Registry>,
}

/// The lock of the folder; unlocked when dropped.
struct Held<'f>(&'f File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Closing the file would unlock it too.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl RegistryFile {
    /// Opens the registry of a folder, or creates it.
    pub(crate) fn open(folder: &Path) -> Result<RegistryFile, StateError> {
        let path = folder.join("registry.journal");
        let fault = |why: String| StateError { path: path.clone(), why };
        let system = |error: io::Error| fault(without_code(&error));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(system)?;
        let lock = folder.join("registry.lock");
        let mut options = OpenOptions::new();
        let lock = options.write(true).create(true).truncate(false).mode(0o600).open(lock).map_err(system)?;
        let held = hold(&lock).map_err(system)?;
        let mut journal = Journal::open(path.clone()).map_err(system)?;
        let registry = journal.read_all().map_err(fault)?;
        drop(held);
        Ok(RegistryFile { path, lock, journal: Mutex::new(journal), registry: RwLock::new(registry) })
    }
    /// The registry as this process knows it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }
    /// Reads what other processes wrote. Blocks.
    pub(crate) fn refresh(&self) -> Result<(), StateError> {
        let mut journal = self.journal();
        if !journal.is_behind() {
            return Ok(());
        }
        let _held = self.hold()?;
        self.catch_up(&mut journal)
    }
    /// Decides on a change, writes it to the disk, and applies it. Blocks.
    pub(crate) fn change(
        &self,
        now_ms: u64,
        decide: impl FnOnce(&Registry) -> Result<Change, RegistryError>,
    ) -> Result<Change, ChangeError> {
        let mut journal = self.journal();
        let _held = self.hold().map_err(ChangeError::State)?;
        self.catch_up(&mut journal).map_err(ChangeError::State)?;
        let change = decide(&self.read()).map_err(ChangeError::Refused)?;
        journal.append(&change).map_err(|why| ChangeError::State(self.fault(why)))?;
        let applied = self.write(|registry| registry.apply(&change));
        applied.map_err(|error| ChangeError::State(self.fault(error.to_string())))?;
        // A journal that could not be rewritten is only longer.
        let _ = journal.compact(&self.read(), now_ms);
        Ok(change)
    }
    fn catch_up(&self, journal: &mut Journal) -> Result<(), StateError> {
        match journal.catch_up().map_err(|why| self.fault(why))? {
            News::Changes(changes) => self
                .write(|registry| changes.iter().try_for_each(|change| registry.apply(change)))
                .map_err(|error| self.fault(error.to_string())),
            News::Whole(newer) => {
                self.write(|registry| *registry = newer);
                Ok(())
            }
        }
    }
    fn write<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        change(&mut self.registry.write().unwrap_or_else(PoisonError::into_inner))
    }
    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn hold(&self) -> Result<Held<'_>, StateError> {
        hold(&self.lock).map_err(|error| self.fault(without_code(&error)))
    }
    fn fault(&self, why: String) -> StateError {
        StateError { path: self.path.clone(), why }
    }
}

fn hold(lock: &File) -> io::Result<Held<'_>> {
    flock(lock, FlockOperation::LockExclusive)?;
    Ok(Held(lock))
}
