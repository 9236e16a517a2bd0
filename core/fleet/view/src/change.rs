//! What changed between two periods, such as before and after a fix.
use crate::fleet::Fleet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Least number of tests in each period: with fewer, a median may differ by chance.
const MIN_TESTS: u64 = 5;
/// Least difference that counts, in seconds, and as a share of the larger lag: the medians of the
/// same line in two weeks differ by less.
const MIN_DIFFERENCE_S: f64 = 0.02;
const MIN_DIFFERENCE_RATIO: f64 = 0.3;

/// Whether a line is better than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// The lag is clearly lower.
    Better,
    /// Neither.
    Same,
    /// The lag is clearly higher.
    Worse,
    /// A period has fewer than five tests.
    Unknown,
}

impl ChangeKind {
    /// One word, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChangeKind::Better => "better",
            ChangeKind::Same => "same",
            ChangeKind::Worse => "worse",
            ChangeKind::Unknown => "unknown",
        }
    }
    /// The place in a list: those that changed come first.
    const fn rank(self) -> u8 {
        match self {
            ChangeKind::Worse => 0,
            ChangeKind::Better => 1,
            ChangeKind::Same => 2,
            ChangeKind::Unknown => 3,
        }
    }
}

/// The lag of a site in two periods.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The site.
    pub site: String,
    /// Lag in the first period, in seconds.
    pub before_s: f64,
    /// Lag in the second period, in seconds.
    pub after_s: f64,
    /// Number of tests in each period.
    pub tests: (u64, u64),
}

impl Change {
    /// The increase, in seconds; negative if the line is better.
    #[must_use]
    pub fn increase_s(&self) -> f64 {
        self.after_s - self.before_s
    }
    /// The order of a list that may be cut: those that are worse, then those that are better, each
    /// with the largest difference first.
    #[must_use]
    pub fn by_importance(&self, other: &Change) -> Ordering {
        let size = |change: &Change| libm::fabs(change.increase_s());
        self.kind().rank().cmp(&other.kind().rank()).then_with(|| size(other).total_cmp(&size(self)))
    }
    /// Whether the line is better than before.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        let increase = self.increase_s();
        let least = MIN_DIFFERENCE_S.max(MIN_DIFFERENCE_RATIO * self.before_s.max(self.after_s));
        match self.tests {
            (before, after) if before.min(after) < MIN_TESTS => ChangeKind::Unknown,
            _ if increase <= -least => ChangeKind::Better,
            _ if increase >= least => ChangeKind::Worse,
            _ => ChangeKind::Same,
        }
    }
}

/// The sites with a lag in both periods, the largest improvement first.
#[must_use]
pub fn changes(before: &Fleet, after: &Fleet) -> Vec<Change> {
    let one = |site: &crate::Site| {
        let earlier = before.site(&site.name)?;
        let (before_s, after_s) = (earlier.lag_s()?, site.lag_s()?);
        Some(Change { site: site.name.to_string(), before_s, after_s, tests: (earlier.tests, site.tests) })
    };
    let mut all: Vec<Change> = after.sites().filter_map(one).collect();
    all.sort_by(|a, b| a.increase_s().total_cmp(&b.increase_s()).then_with(|| a.site.cmp(&b.site)));
    all
}
