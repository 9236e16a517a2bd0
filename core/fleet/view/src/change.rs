//! What changed between two periods, such as before and after a fix.
use crate::fleet::Fleet;
use alloc::string::String;
use alloc::vec::Vec;

/// The lag of a site in two periods.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The site.
    pub site: String,
    /// Lag in the first period, in seconds.
    pub before_s: f64,
    /// Lag in the second period, in seconds.
    pub after_s: f64,
}

impl Change {
    /// The increase, in seconds; negative if the line is better.
    #[must_use]
    pub fn increase_s(&self) -> f64 {
        self.after_s - self.before_s
    }
}

/// The sites with a lag in both periods, the largest improvement first.
#[must_use]
pub fn changes(before: &Fleet, after: &Fleet) -> Vec<Change> {
    let one = |site: &crate::Site| {
        let before_s = before.site(&site.name)?.lag_s()?;
        Some(Change { site: site.name.clone(), before_s, after_s: site.lag_s()? })
    };
    let mut all: Vec<Change> = after.sites().filter_map(one).collect();
    all.sort_by(|a, b| a.increase_s().total_cmp(&b.increase_s()).then_with(|| a.site.cmp(&b.site)));
    all
}
