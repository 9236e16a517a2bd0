//! The interface of all sources.
use crate::QueryError;
use fathom_fleet_view::{Fleet, Membership, Selector, SiteTests, Slowness, Trend};
use fathom_run::is_local_address;
use fathom_units::{Duration, WallTime};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How far the latency of a site is above its lowest while it is slow, in seconds: more than what
/// the schedulers of access networks vary on an idle line, which is about 10 ms (Sundaresan et al.,
/// Broadband Internet performance: a view from the gateway, SIGCOMM 2011, section 5.1).
pub const SLOW_S: f64 = 0.02;

/// A period: from its start to just before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The start.
    pub from: WallTime,
    /// The end.
    pub to: WallTime,
}

impl Span {
    /// Its length.
    #[must_use]
    pub const fn length(self) -> Duration {
        Duration::from_nanos(self.to.0.saturating_sub(self.from.0))
    }
    /// Whether a time is in it.
    #[must_use]
    pub const fn has(self, at: WallTime) -> bool {
        self.from.0 <= at.0 && at.0 < self.to.0
    }
}

/// When sites were slow, and what they share.
#[derive(Clone, PartialEq, Debug)]
pub struct Sharing {
    /// When each site was slow.
    pub slowness: Slowness,
    /// The sites of each label, host and router.
    pub groups: BTreeMap<Membership, BTreeSet<String>>,
}

/// The result file of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultFile {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What an operator knows about the sites of a fleet.
pub trait Source: Send + Sync {
    /// The sites and the medians of their tests.
    ///
    /// # Errors
    /// A source that cannot be read.
    fn fleet(&self, of: &Selector, span: Span) -> Result<Fleet, QueryError>;
    /// How the lags develop, of all sites or by the value of a label.
    ///
    /// # Errors
    /// A source that cannot be read, or an invalid label.
    fn trends(&self, of: &Selector, by: Option<&str>, span: Span) -> Result<Vec<Trend>, QueryError>;
    /// When sites were slow, and what they share.
    ///
    /// # Errors
    /// A source that cannot be read.
    fn sharing(&self, of: &Selector, span: Span) -> Result<Sharing, QueryError>;
    /// All tests of a site.
    ///
    /// # Errors
    /// A source that cannot be read.
    fn tests(&self, site: &str, span: Span) -> Result<SiteTests, QueryError>;
    /// The result files of a site, in order of time; none if the source has no files.
    ///
    /// # Errors
    /// A source that cannot be read.
    fn results(&self, site: &str, span: Span) -> Result<Vec<ResultFile>, QueryError>;
}

/// Adds a router on the path of a site. Local addresses are of different routers, even if they are
/// equal.
pub fn add_router(groups: &mut BTreeMap<Membership, BTreeSet<String>>, site: String, address: String) {
    if !address.parse().is_ok_and(is_local_address) {
        groups.entry(Membership { kind: "hop".to_owned(), value: address }).or_default().insert(site);
    }
}

/// The sites by the values of their labels.
#[must_use]
pub fn groups_of<'a>(
    sites: impl IntoIterator<Item = (&'a str, &'a BTreeMap<String, String>)>,
) -> BTreeMap<Membership, BTreeSet<String>> {
    let mut groups: BTreeMap<Membership, BTreeSet<String>> = BTreeMap::new();
    for (site, labels) in sites {
        for (kind, value) in labels {
            let shared = Membership { kind: kind.clone(), value: value.clone() };
            groups.entry(shared).or_default().insert(site.to_owned());
        }
    }
    groups
}
