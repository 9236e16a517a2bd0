//! Changes, and their application.
use super::decide::MAX_LIFE_MS;
use super::{DEAD_KEYS, Registry, Site, Token};
use crate::{Digest, Labels, SiteName};
use alloc::vec::Vec;
use core::fmt;

/// Number of tokens, and its multiples, at which expired ones are forgotten.
const FORGET_AT: usize = 1_024;

/// A change of the registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A token was issued.
    Issued(Token),
    /// A site was enrolled, and its token is used.
    Enrolled {
        /// The token.
        token: Digest,
        /// The site.
        name: SiteName,
        /// Its labels.
        labels: Labels,
        /// Its key.
        key: Digest,
        /// When.
        at_ms: u64,
    },
    /// A site was offered a new key.
    Offered {
        /// The site.
        site: SiteName,
        /// The new key.
        key: Digest,
        /// When.
        at_ms: u64,
    },
    /// A new key was used for the first time.
    Used {
        /// The site.
        site: SiteName,
        /// The new key.
        key: Digest,
        /// When.
        at_ms: u64,
    },
    /// A site was revoked.
    Revoked {
        /// The site.
        site: SiteName,
        /// When.
        at_ms: u64,
    },
    /// A replaced key was used.
    Duplicate {
        /// The site.
        site: SiteName,
        /// When.
        at_ms: u64,
    },
    /// A site at the time when the journal was rewritten.
    Restored(Site),
}

/// A change that contradicts the registry: its journal was damaged or edited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconsistent;

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("contradicts earlier lines")
    }
}

impl core::error::Error for Inconsistent {}

impl Registry {
    /// Applies a change.
    ///
    /// # Errors
    /// A change that was not decided on this registry. Nothing is changed then.
    pub fn apply(&mut self, change: &Change) -> Result<(), Inconsistent> {
        match change {
            Change::Issued(token) => {
                self.issued(token);
                Ok(())
            }
            Change::Enrolled { token, name, labels, key, at_ms } => {
                self.enrolled(token, (name, labels), key, *at_ms)
            }
            Change::Offered { site, key, at_ms } => self.offered(site, key, *at_ms),
            Change::Used { site, key, at_ms } => self.used(site, key, *at_ms),
            Change::Revoked { site, at_ms } => {
                self.site_mut(site)?.1.revoked_ms = Some(*at_ms);
                Ok(())
            }
            Change::Duplicate { site, at_ms } => {
                self.site_mut(site)?.1.duplicate_ms = Some(*at_ms);
                Ok(())
            }
            Change::Restored(site) => self.add(site.clone()),
        }
    }

    fn issued(&mut self, token: &Token) {
        // No token lives longer than this one can: those that expire a life earlier are expired.
        if self.tokens.len().is_multiple_of(FORGET_AT) {
            let oldest_ms = token.expires_ms.saturating_sub(MAX_LIFE_MS);
            self.tokens.retain(|_, one| one.expires_ms >= oldest_ms);
        }
        self.tokens.insert(token.digest, token.clone());
    }

    fn enrolled(
        &mut self,
        token: &Digest,
        (name, labels): (&SiteName, &Labels),
        key: &Digest,
        at_ms: u64,
    ) -> Result<(), Inconsistent> {
        if self.keys.contains_key(key) {
            return Err(Inconsistent);
        }
        let fresh = Site {
            name: name.clone(),
            labels: labels.clone(),
            enrolled_ms: at_ms,
            revoked_ms: None,
            current: *key,
            next: None,
            replaced_ms: at_ms,
            duplicate_ms: None,
            dead: Vec::new(),
        };
        // Absent if it was forgotten as expired, by a clock that was set back since.
        self.tokens.remove(token);
        if self.site(name).is_none() {
            return self.add(fresh);
        }
        // A replaced site: the keys of before are remembered.
        let (at, site) = self.site_mut(name)?;
        let old = core::mem::replace(site, fresh);
        site.dead = old.dead;
        let replaced: Vec<Digest> = [Some(old.current), old.next].into_iter().flatten().collect();
        let forgotten: Vec<Digest> = replaced.into_iter().filter_map(|one| bury(site, one, at_ms)).collect();
        self.keys.insert(*key, at);
        self.forget(forgotten);
        Ok(())
    }

    fn offered(&mut self, name: &SiteName, key: &Digest, at_ms: u64) -> Result<(), Inconsistent> {
        if self.keys.contains_key(key) {
            return Err(Inconsistent);
        }
        let (at, site) = self.site_mut(name)?;
        let earlier = site.next.replace(*key);
        let forgotten = earlier.and_then(|one| bury(site, one, at_ms));
        self.keys.insert(*key, at);
        self.forget(forgotten);
        Ok(())
    }

    fn used(&mut self, name: &SiteName, key: &Digest, at_ms: u64) -> Result<(), Inconsistent> {
        let (_, site) = self.site_mut(name)?;
        if site.next != Some(*key) {
            return Err(Inconsistent);
        }
        site.next = None;
        site.replaced_ms = at_ms;
        let old = core::mem::replace(&mut site.current, *key);
        let forgotten = bury(site, old, at_ms);
        self.forget(forgotten);
        Ok(())
    }

    fn forget(&mut self, keys: impl IntoIterator<Item = Digest>) {
        keys.into_iter().for_each(|key| {
            self.keys.remove(&key);
        });
    }

    fn add(&mut self, site: Site) -> Result<(), Inconsistent> {
        let at = u32::try_from(self.sites.len()).map_err(|_| Inconsistent)?;
        let dead = site.dead.iter().map(|(key, _)| *key);
        let keys: Vec<Digest> = dead.chain([site.current]).chain(site.next).collect();
        if self.names.contains_key(&site.name) || keys.iter().any(|key| self.keys.contains_key(key)) {
            return Err(Inconsistent);
        }
        self.keys.extend(keys.into_iter().map(|key| (key, at)));
        self.names.insert(site.name.clone(), at);
        self.sites.push(site);
        Ok(())
    }

    fn site_mut(&mut self, name: &SiteName) -> Result<(u32, &mut Site), Inconsistent> {
        let at = *self.names.get(name).ok_or(Inconsistent)?;
        self.sites.get_mut(at as usize).map(|site| (at, site)).ok_or(Inconsistent)
    }
}

/// Remembers a replaced key; returns the one that is forgotten for it.
fn bury(site: &mut Site, key: Digest, at_ms: u64) -> Option<Digest> {
    site.dead.push((key, at_ms));
    (site.dead.len() > DEAD_KEYS).then(|| site.dead.remove(0).0)
}
