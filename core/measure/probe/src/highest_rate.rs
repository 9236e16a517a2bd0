//! The highest rate over a second: what a line can carry at least.
use alloc::collections::VecDeque;
use fathom_units::{Bytes, Duration, Rate, Time};

/// Shortest period over which a rate is taken as that of the line.
const SPAN: Duration = Duration::from_secs(1);

/// Slow start doubles the rate in each round trip. A rate that grew by no more than this, in
/// percent, is of the line.
const GROWTH_PERCENT: u64 = 25;

/// Tracks the highest rate of a counter over a second.
#[derive(Clone, Default, Debug)]
pub struct HighestRate {
    recent: VecDeque<(Time, u64)>,
    highest: Option<Rate>,
    /// A rate that was the highest one, and since when it is at most [`GROWTH_PERCENT`] less.
    base: Rate,
    since: Time,
}

impl HighestRate {
    /// Adds the counter's total at a time.
    pub fn add(&mut self, at: Time, total_bytes: u64) {
        self.recent.push_back((at, total_bytes));
        while self.recent.get(1).is_some_and(|(t, _)| at.saturating_since(*t) >= SPAN) {
            self.recent.pop_front();
        }
        let Some((since, before)) = self.recent.front().copied() else { return };
        let span = at.saturating_since(since);
        if span >= SPAN {
            let rate = Rate::from_bytes_per(Bytes(total_bytes.saturating_sub(before)), span);
            self.highest = self.highest.max(Some(rate));
            let base = self.base.as_bits_per_second();
            if rate.as_bits_per_second() > base.saturating_add(base / 100 * GROWTH_PERCENT) {
                (self.base, self.since) = (rate, at);
            }
        }
    }
    /// The rate; `None` before a second has passed, and until the rate has stopped growing for a
    /// round trip.
    pub fn rate(&self, round_trip: Duration) -> Option<Rate> {
        let (last, _) = self.recent.back()?;
        self.highest.filter(|_| last.saturating_since(self.since) >= round_trip)
    }
}
