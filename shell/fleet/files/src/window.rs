//! The windows of a site, from any file.
use fathom_fleet_query::{QueryError, ResultFile, Span};
use std::collections::BTreeMap;

/// Length of a window, in milliseconds.
pub(crate) const WINDOW_MS: u64 = 600_000;
/// The name of the series of the probing host itself, as if it were a target.
const THIS_HOST: &str = "this host";

/// A window of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window<'a> {
    /// The target.
    pub target: &'a str,
    /// The probe: `icmp`, `hop 3`, `lag up`.
    pub probe: &'a str,
    /// Start, in milliseconds since 1970.
    pub from_ms: u64,
    /// Median of round trips, in seconds; `None` without an answer, and for other series.
    pub rtt_p50_s: Option<f64>,
    /// Mean of its values, in the unit of the series.
    pub mean: Option<f64>,
}

impl Window<'_> {
    /// Whether it is of round trips to a target: routers on the path answer slowly at times.
    pub(crate) fn is_of_target(&self) -> bool {
        self.target != THIS_HOST && !self.probe.starts_with("hop ")
    }
}

/// A site with its labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownSite {
    /// The name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Routers on its paths with a public address.
    pub hops: Vec<String>,
}

/// Files with windows.
pub trait Windows: Send + Sync {
    /// All sites, by name.
    ///
    /// # Errors
    /// Files that cannot be read.
    fn sites(&self) -> Result<Vec<KnownSite>, QueryError>;
    /// Passes the windows of a site that begin in a period to `take`.
    ///
    /// # Errors
    /// Files that cannot be read.
    fn each(&self, site: &str, span: Span, take: &mut dyn FnMut(&Window<'_>)) -> Result<(), QueryError>;
    /// The result files of a site in a period, in order of time.
    ///
    /// # Errors
    /// Files that cannot be read.
    fn results(&self, site: &str, span: Span) -> Result<Vec<ResultFile>, QueryError>;
}
