//! Whether a request of a site is admitted.
use crate::active::Active;
use crate::digest::series_number;
use crate::{Bucket, DecodeError, Labels, Points, Series, SiteName, Totals, Version, walk};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Labels of Fathom's own series in addition to `__name__` and `site`. Others are refused, unless
/// the site was enrolled with them: some engines give labels a meaning, such as the tenant.
pub const OWN_LABELS: [&str; 13] = [
    "address",
    "direction",
    "group",
    "host",
    "instance",
    "interface",
    "job",
    "le",
    "outcome",
    "probe",
    "target",
    "test",
    "thread",
];

/// What the names of metrics begin with.
const METRIC_PREFIX: &str = "fathom_";
/// How far a point may be in the future. Prometheus refuses points that are an hour older than its
/// newest sample, so one far in the future would end the reception of all sites.
const MAX_AHEAD_MS: u64 = 600_000;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;
/// What an object counts as at least, so that files are limited by number too.
const MIN_OBJECT_BYTES: u64 = 65_536;

/// What one site may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Series that had points in the last two hours.
    pub series: u64,
    /// Samples per minute; a native histogram counts as one per 16 bytes.
    pub samples_per_minute: u64,
    /// Bytes of objects per day; an object counts as 64 KiB at least.
    pub object_bytes_per_day: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { series: 2_000, samples_per_minute: 100_000, object_bytes_per_day: 200_000_000 }
    }
}

/// What a site used.
#[derive(Clone, Debug)]
pub struct Usage {
    active: Active,
    samples: Bucket,
    bytes: Bucket,
    used_ms: u64,
}

impl Usage {
    /// Nothing yet.
    #[must_use]
    pub fn new(limits: &Limits, now_ms: u64) -> Usage {
        Usage {
            active: Active::default(),
            samples: Bucket::new(limits.samples_per_minute, MINUTE_MS, now_ms),
            bytes: Bucket::new(limits.object_bytes_per_day, DAY_MS, now_ms),
            used_ms: now_ms,
        }
    }
    /// Number of active series.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active.len()
    }
    /// Whether a new value would be the same: nothing was used for a day.
    #[must_use]
    pub fn is_idle(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.used_ms) > DAY_MS
    }
    /// Takes the bytes of an object.
    ///
    /// # Errors
    /// When it may be sent.
    pub fn take_object(&mut self, bytes: u64, now_ms: u64) -> Result<(), Rejection> {
        self.used_ms = now_ms;
        let taken = self.bytes.take(bytes.max(MIN_OBJECT_BYTES), now_ms);
        taken.map_err(|after_s| Rejection::Rate { what: "bytes of objects per day", after_s })
    }
    /// Returns the bytes of an object that was not stored.
    pub fn put_back_object(&mut self, bytes: u64) {
        self.bytes.put_back(bytes.max(MIN_OBJECT_BYTES));
    }
    /// Returns the samples of a request that the engine did not take.
    pub fn put_back_samples(&mut self, admitted: &Admitted) {
        self.samples.put_back(admitted.totals.points.cost);
    }
}

/// An admitted request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admitted {
    /// What it has.
    pub totals: Totals,
}

/// Why a request is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// It cannot be read.
    Decode(DecodeError),
    /// A series has a name or label that it must not have, or lacks one.
    Series {
        /// The series.
        series: String,
        /// What is wrong.
        why: String,
    },
    /// A point is too far in the future.
    Ahead {
        /// The series.
        series: String,
    },
    /// More active series than the limit.
    TooManySeries {
        /// The first series beyond it.
        series: String,
        /// The limit.
        limit: u64,
    },
    /// More than the limit per time.
    Rate {
        /// What is limited.
        what: &'static str,
        /// When to try again, in seconds.
        after_s: u64,
    },
}

impl Rejection {
    /// When to try again; `None` if that is pointless.
    #[must_use]
    pub const fn retry_after_s(&self) -> Option<u64> {
        match self {
            Rejection::Rate { after_s, .. } => Some(*after_s),
            _ => None,
        }
    }
}

impl From<DecodeError> for Rejection {
    fn from(error: DecodeError) -> Self {
        Rejection::Decode(error)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Decode(error) => error.fmt(f),
            Rejection::Series { series, why } => write!(f, "{series}: {why}"),
            Rejection::Ahead { series } => write!(f, "{series}: more than 10 min in the future"),
            Rejection::TooManySeries { series, limit } => {
                write!(f, "{series}: exceeds the limit of {limit} series")
            }
            Rejection::Rate { what, after_s } => write!(f, "too many {what}: try again in {after_s} s"),
        }
    }
}

impl core::error::Error for Rejection {}

/// Checks a request without its compression and counts it. A request that is rejected leaves the
/// usage unchanged.
///
/// # Errors
/// Why it is rejected.
pub fn admit(
    version: Version,
    body: &[u8],
    (site, labels): (&SiteName, &Labels),
    (usage, limits): (&mut Usage, &Limits),
    salt: &[u8; 16],
    now_ms: u64,
) -> Result<Admitted, Rejection> {
    usage.used_ms = now_ms;
    usage.active.expire(now_ms);
    let (mut all, mut new) = (Vec::new(), BTreeSet::new());
    let totals = walk(version, body, |series| {
        check_series(series, site, labels)?;
        check_time(series, &series.points, now_ms)?;
        let number = series_number(salt, series.labels);
        if !usage.active.contains(number) && new.insert(number) {
            let count = (usage.active.len() + new.len()) as u64;
            if count > limits.series {
                return Err(Rejection::TooManySeries { series: series.shown(), limit: limits.series });
            }
        }
        all.push(number);
        Ok(())
    })?;
    let taken = usage.samples.take(totals.points.cost, now_ms);
    taken.map_err(|after_s| Rejection::Rate { what: "samples per minute", after_s })?;
    usage.active.see(all, now_ms);
    Ok(Admitted { totals })
}

fn check_series(series: &Series<'_, '_>, site: &SiteName, labels: &Labels) -> Result<(), Rejection> {
    let refuse = |why: String| Rejection::Series { series: series.shown(), why };
    let metric = series.label("__name__").unwrap_or_default();
    if !metric.starts_with(METRIC_PREFIX) {
        return Err(refuse(alloc::format!("expected a name with {METRIC_PREFIX}")));
    }
    for (own, value) in labels.iter().chain([("site", site.as_str())]) {
        if series.label(own) != Some(value) {
            return Err(refuse(alloc::format!("expected {own}={value:?}, as enrolled")));
        }
    }
    let is_known = |name: &str| {
        matches!(name, "__name__" | "site") || OWN_LABELS.contains(&name) || labels.get(name).is_some()
    };
    match series.labels.iter().find(|(other, _)| !is_known(other)) {
        Some((other, _)) => Err(refuse(alloc::format!("unexpected label {other}"))),
        None => Ok(()),
    }
}

fn check_time(series: &Series<'_, '_>, points: &Points, now_ms: u64) -> Result<(), Rejection> {
    let is_ahead = points.range_ms.is_some_and(|(_, last)| last > now_ms.saturating_add(MAX_AHEAD_MS));
    if is_ahead { Err(Rejection::Ahead { series: series.shown().to_string() }) } else { Ok(()) }
}
