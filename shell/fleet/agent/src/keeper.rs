//! The key of a site, and its replacement.
//!
//! The gateway accepts the old key until the new one is used, and the new one is on the disk before
//! that. A crash at any moment leaves a key that is accepted.
use crate::gateway::{agent_of, key_of, post};
use crate::{AgentError, Identity};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How long a key is used.
const LIFE_MS: u64 = 86_400_000;
/// Pause after a failed replacement.
const PAUSE_MS: u64 = 600_000;

/// Gives the key for each request, and replaces it once a day.
pub struct KeyKeeper {
    path: PathBuf,
    /// When a replacement failed.
    failed_ms: Mutex<Option<u64>>,
}

impl KeyKeeper {
    /// A keeper of the key in this file.
    ///
    /// # Errors
    /// A file that is no identity.
    pub fn new(identity: &Path) -> Result<KeyKeeper, AgentError> {
        Identity::load(identity)?;
        Ok(KeyKeeper { path: identity.to_owned(), failed_ms: Mutex::default() })
    }
    /// The identity, read from the file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn identity(&self) -> Result<Identity, AgentError> {
        Identity::load(&self.path)
    }
    /// The bearer key for a request. Read it for each one.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn key(&self) -> Result<String, AgentError> {
        self.identity().map(|identity| identity.key)
    }
    /// Replaces the key if it is a day old. Returns whether it was replaced. Call it every minute;
    /// after a failure it waits for ten.
    ///
    /// # Errors
    /// A gateway that cannot be reached or refuses the key, or a file that cannot be written.
    pub fn rotate_if_due(&self, now_ms: u64) -> Result<bool, AgentError> {
        let mut failed = self.failed_ms.lock().unwrap_or_else(PoisonError::into_inner);
        let is_pausing = failed.is_some_and(|at| now_ms.saturating_sub(at) < PAUSE_MS);
        if is_pausing || !is_due(&self.identity()?, now_ms) {
            return Ok(false);
        }
        let rotated = self.rotate_unless(now_ms, |identity| !is_due(identity, now_ms));
        *failed = rotated.is_err().then_some(now_ms);
        rotated
    }
    /// Replaces the key now.
    ///
    /// # Errors
    /// As [`KeyKeeper::rotate_if_due`].
    pub fn rotate(&self, now_ms: u64) -> Result<(), AgentError> {
        self.rotate_unless(now_ms, |_| false).map(|_| ())
    }
    /// Only one process at a time replaces the key.
    fn rotate_unless(
        &self,
        now_ms: u64,
        is_done: impl FnOnce(&Identity) -> bool,
    ) -> Result<bool, AgentError> {
        let _lock = self.lock()?;
        let mut identity = self.identity()?;
        if is_done(&identity) {
            return Ok(false);
        }
        let agent = agent_of(&identity.url, identity.ca_file.as_deref())?;
        let answer = post(&agent, (&identity.url, "/api/v1/key"), Some(&identity.key), &json!({}))?;
        identity.key = key_of(&identity.url, &answer)?;
        identity.rotated_ms = now_ms;
        identity.save(&self.path)?;
        Ok(true)
    }
    fn lock(&self) -> Result<File, AgentError> {
        let path = self.path.with_extension("lock");
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = opened.map_err(|error| AgentError::file(&path, &error))?;
        // Closing the file unlocks it.
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| AgentError::file(&path, &error.into()))?;
        Ok(file)
    }
}

/// A clock that was set back makes a key due too.
const fn is_due(identity: &Identity, now_ms: u64) -> bool {
    now_ms.abs_diff(identity.rotated_ms) >= LIFE_MS
}
