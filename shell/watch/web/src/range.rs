//! Time ranges in queries.
use fathom_units::WallTime;
use fathom_web::{Age, Query, Refusal};

/// A range that ended this long ago no longer changes: longer than the latest answers plus the time
/// to write them.
pub(crate) const SETTLED_NS: u64 = 1_800 * 1_000_000_000;

/// A requested time range.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Range {
    pub(crate) fn take(query: &mut Query, from: &str, to: &str) -> Result<Range, Refusal> {
        let range = Range { from: query.moment_ns(from)?, to: query.moment_ns(to)? };
        if range.from >= range.to {
            return Err(Refusal::bad(format!("{from} is not before {to}")));
        }
        Ok(range)
    }
    pub(crate) const fn walls(self) -> std::ops::Range<WallTime> {
        WallTime(self.from)..WallTime(self.to)
    }
    pub(crate) fn age(self, now: u64) -> Age {
        if self.to.saturating_add(SETTLED_NS) < now { Age::Closed } else { Age::Changing }
    }
}
