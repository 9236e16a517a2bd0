//! What an administrator does with the registry, while the gateway runs or not.
use crate::registry_file::{ChangeError, RegistryFile, StateError};
use crate::secrets::{new_secret, now_ms};
use fathom_fleet_admission::{Labels, Site, SiteName, TOKEN_PREFIX, Token};
use std::path::Path;
use std::time::Duration;

/// An enrollment token that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenRequest {
    /// How long it is valid: at most 24 h.
    pub life: Duration,
    /// The site for which alone it is valid.
    pub site: Option<SiteName>,
    /// The labels with which the site is enrolled; `None` for those that the agent names.
    pub labels: Option<Labels>,
    /// Whether it may replace a site that is already enrolled.
    pub replaces: bool,
}

impl Default for TokenRequest {
    fn default() -> Self {
        TokenRequest { life: Duration::from_secs(3_600), site: None, labels: None, replaces: false }
    }
}

/// The registry of a state folder. A running gateway sees changes within a second.
pub struct Admin(RegistryFile);

impl Admin {
    /// Opens the registry of a folder, or creates it.
    ///
    /// # Errors
    /// A folder or journal that cannot be used.
    pub fn open(state: &Path) -> Result<Admin, StateError> {
        RegistryFile::open(state).map(Admin)
    }
    /// Issues an enrollment token. Only its digest is stored: show it once.
    ///
    /// # Errors
    /// A life that is too long, or a registry that cannot be written.
    pub fn issue_token(&self, request: &TokenRequest) -> Result<String, ChangeError> {
        let (text, digest) = new_secret(TOKEN_PREFIX).map_err(|error| {
            ChangeError::State(StateError { path: "random numbers".into(), why: error.to_string() })
        })?;
        let now = now_ms();
        let life_ms = u64::try_from(request.life.as_millis()).unwrap_or(u64::MAX);
        let token = Token {
            digest,
            expires_ms: now.saturating_add(life_ms),
            site: request.site.clone(),
            labels: request.labels.clone(),
            replaces: request.replaces,
        };
        self.0.change(now, |registry| registry.issue(token, now))?;
        Ok(text)
    }
    /// Revokes a site: its keys are refused from now on.
    ///
    /// # Errors
    /// A site that is not enrolled, or a registry that cannot be written.
    pub fn revoke(&self, site: &SiteName) -> Result<(), ChangeError> {
        let now = now_ms();
        self.0.change(now, |registry| registry.revoke(site, now)).map(|_| ())
    }
    /// All sites, revoked ones too.
    ///
    /// # Errors
    /// A registry that cannot be read.
    pub fn sites(&self) -> Result<Vec<Site>, StateError> {
        self.0.refresh()?;
        Ok(self.0.read().sites().to_vec())
    }
}
