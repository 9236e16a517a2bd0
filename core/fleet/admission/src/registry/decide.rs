//! Decisions: what may be changed.
use super::{Authentication, Change, Registry, Token};
use crate::{Digest, Labels, SiteName};
use core::fmt;

/// Longest life of a token.
pub(super) const MAX_LIFE_MS: u64 = 86_400_000;
/// A duplicate is recorded once in this time.
const RECORDED_EVERY_MS: u64 = 3_600_000;

/// Why the registry refuses something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistryError {
    /// A token's life is 0 or longer than a day.
    Life,
    /// The token was never issued, or was used already.
    UnknownToken,
    /// The token is expired.
    Expired,
    /// The token is for another site.
    OtherSite(SiteName),
    /// The token is for other labels.
    OtherLabels(SiteName),
    /// The site is already enrolled.
    Enrolled(SiteName),
    /// There is no such site.
    NoSite(SiteName),
    /// The site is revoked already.
    Revoked(SiteName),
    /// The key is not the one in use.
    Key,
    /// The secret exists already: random numbers repeat.
    Repeated,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Life => f.write_str("a token lasts 24 h at most"),
            RegistryError::UnknownToken => f.write_str("the token is unknown or used"),
            RegistryError::Expired => f.write_str("the token is expired"),
            RegistryError::OtherSite(site) => write!(f, "the token is not for {site}"),
            RegistryError::OtherLabels(site) => write!(f, "the token is not for {site}"),
            RegistryError::Enrolled(site) => {
                write!(f, "site {site} is enrolled: use a replacing token")
            }
            RegistryError::NoSite(site) => write!(f, "site {site} is not enrolled"),
            RegistryError::Revoked(site) => write!(f, "site {site} is revoked"),
            RegistryError::Key => f.write_str("unknown key"),
            RegistryError::Repeated => f.write_str("random numbers repeat"),
        }
    }
}

impl core::error::Error for RegistryError {}

impl Registry {
    /// Issues a token.
    ///
    /// # Errors
    /// A life that is too long.
    pub fn issue(&self, token: Token, now_ms: u64) -> Result<Change, RegistryError> {
        if token.expires_ms <= now_ms || token.expires_ms > now_ms.saturating_add(MAX_LIFE_MS) {
            return Err(RegistryError::Life);
        }
        if self.tokens.contains_key(&token.digest) {
            return Err(RegistryError::Repeated);
        }
        Ok(Change::Issued(token))
    }
    /// Enrolls a site with a token; `key` is the digest of its new key.
    ///
    /// # Errors
    /// A token that is not valid for this, or a name that is taken.
    pub fn enroll(
        &self,
        token: &Digest,
        (name, labels): (&SiteName, &Labels),
        key: &Digest,
        now_ms: u64,
    ) -> Result<Change, RegistryError> {
        let token = self.tokens.get(token).ok_or(RegistryError::UnknownToken)?;
        if token.expires_ms <= now_ms {
            return Err(RegistryError::Expired);
        }
        if token.site.as_ref().is_some_and(|bound| bound != name) {
            return Err(RegistryError::OtherSite(name.clone()));
        }
        // No labels means those of the token.
        let given = token.labels.as_ref().unwrap_or(labels);
        if !labels.is_empty() && given != labels {
            return Err(RegistryError::OtherLabels(name.clone()));
        }
        if self.site(name).is_some() && !token.replaces {
            return Err(RegistryError::Enrolled(name.clone()));
        }
        self.check_new(key)?;
        Ok(Change::Enrolled {
            token: token.digest,
            name: name.clone(),
            labels: given.clone(),
            key: *key,
            at_ms: now_ms,
        })
    }
    /// Offers the site of a key a new one, which replaces an earlier offer.
    ///
    /// # Errors
    /// A key that is not in use.
    pub fn rotate(&self, key: &Digest, new: &Digest, now_ms: u64) -> Result<Change, RegistryError> {
        self.check_new(new)?;
        match self.authenticate(key, now_ms, 0) {
            Authentication::Current(site) => {
                Ok(Change::Offered { site: site.name.clone(), key: *new, at_ms: now_ms })
            }
            _ => Err(RegistryError::Key),
        }
    }
    /// Records the first use of a new key, which ends the one before.
    ///
    /// # Errors
    /// A key that is not new.
    pub fn first_use(&self, key: &Digest, now_ms: u64) -> Result<Change, RegistryError> {
        match self.authenticate(key, now_ms, 0) {
            Authentication::FirstUse(site) => {
                Ok(Change::Used { site: site.name.clone(), key: *key, at_ms: now_ms })
            }
            _ => Err(RegistryError::Key),
        }
    }
    /// Revokes a site.
    ///
    /// # Errors
    /// A site that is not enrolled.
    pub fn revoke(&self, name: &SiteName, now_ms: u64) -> Result<Change, RegistryError> {
        let site = self.site(name).ok_or_else(|| RegistryError::NoSite(name.clone()))?;
        if site.revoked_ms.is_some() {
            return Err(RegistryError::Revoked(name.clone()));
        }
        Ok(Change::Revoked { site: name.clone(), at_ms: now_ms })
    }
    /// Records that a replaced key was used; `None` if that was recorded within the last hour.
    #[must_use]
    pub fn duplicate(&self, name: &SiteName, now_ms: u64) -> Option<Change> {
        let is_recent = |at_ms: u64| now_ms.saturating_sub(at_ms) < RECORDED_EVERY_MS;
        let site = self.site(name).filter(|site| !site.duplicate_ms.is_some_and(is_recent))?;
        Some(Change::Duplicate { site: site.name.clone(), at_ms: now_ms })
    }
    fn check_new(&self, key: &Digest) -> Result<(), RegistryError> {
        if self.keys.contains_key(key) { Err(RegistryError::Repeated) } else { Ok(()) }
    }
}
