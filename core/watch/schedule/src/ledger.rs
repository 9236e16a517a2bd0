//! What a schedule has used, over restarts.
use fathom_units::{Bytes, Date, WallTime};

/// The tests of one schedule so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ledger {
    /// Number of the last interval since 1970 whose test was made or left out.
    pub done: Option<u64>,
    /// Year and month (UTC) of `used`.
    pub month: (u64, u64),
    /// Payload of the tests of that month.
    pub used: Bytes,
    /// Payload of the last test.
    pub last: Bytes,
}

impl Ledger {
    /// Starts a new month. A clock that was set back starts one, too: the budget of a wrong month
    /// would stop the tests of the right one.
    pub(crate) fn begin_month(&mut self, now: WallTime) {
        let Date { year, month, .. } = now.date();
        if self.month != (year, month) {
            (self.month, self.used) = ((year, month), Bytes::ZERO);
        }
    }
}

/// The share of the month (UTC) that has passed, from 0 to 1.
pub(crate) fn share_of_month(now: WallTime) -> f64 {
    const DAY_NS: u64 = 86_400 * 1_000_000_000;
    let Date { year, month, .. } = now.date();
    let begin = |of: Date| of.days().unwrap_or_default() * DAY_NS;
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let next = begin(Date { year: next.0, month: next.1, day: 1 });
    let first = begin(Date { year, month, day: 1 });
    now.0.saturating_sub(first) as f64 / (next - first) as f64
}
