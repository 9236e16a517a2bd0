//! The registry: sites, their keys, and enrollment tokens.
//!
//! A decision returns a [`Change`]. The caller stores the change first and applies it
//! then, so that nothing is answered that a crash could undo.
mod change;
mod decide;
mod line;

pub use change::{Change, Inconsistent};
pub use decide::RegistryError;
pub use line::{LineError, read_line};

use crate::{Digest, Labels, SiteName};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How many replaced keys of a site are remembered, to tell a copied key from an unknown one.
pub const DEAD_KEYS: usize = 8;

/// An enrollment token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Digest of the token.
    pub digest: Digest,
    /// When it expires.
    pub expires_ms: u64,
    /// The site for which alone it is valid.
    pub site: Option<SiteName>,
    /// The labels with which the site is enrolled; `None` for those of the request.
    pub labels: Option<Labels>,
    /// Whether it may replace the keys of a site that is already enrolled.
    pub replaces: bool,
}

/// A site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Its name.
    pub name: SiteName,
    /// Labels of all its series.
    pub labels: Labels,
    /// When it was enrolled.
    pub enrolled_ms: u64,
    /// When it was revoked.
    pub revoked_ms: Option<u64>,
    /// Digest of the key in use.
    pub current: Digest,
    /// Digest of a new key that was not used yet.
    pub next: Option<Digest>,
    /// When the key in use was first used.
    pub replaced_ms: u64,
    /// When a replaced key was last reported.
    pub duplicate_ms: Option<u64>,
    /// Digests of replaced keys and when they were replaced, the oldest first.
    pub dead: Vec<(Digest, u64)>,
}

/// What a key is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Authentication<'r> {
    /// The key in use.
    Current(&'r Site),
    /// A new key: [`Registry::first_use`] before anything else.
    FirstUse(&'r Site),
    /// A key that was replaced a moment ago: this request and the first one with the new key may
    /// have been sent at the same time.
    JustReplaced(&'r Site),
    /// A key that was replaced earlier: another machine has the new one.
    Duplicate(&'r Site),
    /// A key of a revoked site.
    Revoked(&'r Site),
    /// Any other key.
    Unknown,
}

/// All sites and tokens.
#[derive(Clone, Default, Debug)]
pub struct Registry {
    sites: Vec<Site>,
    /// Index of each site.
    names: BTreeMap<SiteName, u32>,
    /// Index of the site of each key, also of replaced ones.
    keys: BTreeMap<Digest, u32>,
    tokens: BTreeMap<Digest, Token>,
}

/// Two registries are equal if they have the same sites and tokens, in any order.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        let same_site = |name: &SiteName| self.site(name) == other.site(name);
        self.tokens == other.tokens
            && self.sites.len() == other.sites.len()
            && self.keys.len() == other.keys.len()
            && self.names.keys().all(same_site)
    }
}

impl Registry {
    /// What a key is. Within `grace_ms` after its replacement, a key is `JustReplaced`.
    #[must_use]
    pub fn authenticate(&self, key: &Digest, now_ms: u64, grace_ms: u64) -> Authentication<'_> {
        let Some(site) = self.site_of(key) else { return Authentication::Unknown };
        if site.revoked_ms.is_some() {
            return Authentication::Revoked(site);
        }
        if site.current == *key {
            return Authentication::Current(site);
        }
        if site.next == Some(*key) {
            return Authentication::FirstUse(site);
        }
        let replaced = site.dead.iter().find(|(dead, _)| dead == key).map_or(0, |(_, at_ms)| *at_ms);
        if now_ms.saturating_sub(replaced) < grace_ms {
            return Authentication::JustReplaced(site);
        }
        Authentication::Duplicate(site)
    }
    /// The site with this name.
    #[must_use]
    pub fn site(&self, name: &SiteName) -> Option<&Site> {
        self.names.get(name).and_then(|at| self.sites.get(*at as usize))
    }
    /// All sites.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }
    /// The token with this digest, also if it is expired.
    #[must_use]
    pub fn token(&self, digest: &Digest) -> Option<&Token> {
        self.tokens.get(digest)
    }
    /// Number of unused tokens, with expired ones.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }
    /// Changes that make the same registry, without expired tokens.
    pub fn snapshot(&self, now_ms: u64) -> impl Iterator<Item = Change> {
        let tokens = self.tokens.values().filter(move |token| token.expires_ms > now_ms);
        let tokens = tokens.map(|token| Change::Issued(token.clone()));
        tokens.chain(self.sites.iter().map(|site| Change::Restored(site.clone())))
    }
    fn site_of(&self, key: &Digest) -> Option<&Site> {
        self.keys.get(key).and_then(|at| self.sites.get(*at as usize))
    }
}
