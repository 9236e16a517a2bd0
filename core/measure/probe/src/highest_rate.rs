//! The highest rate over a second: what a line can carry at least.
use alloc::collections::VecDeque;
use fathom_units::{Bytes, Duration, Rate, Time};

/// Shortest period over which a rate is taken as capacity.
const SPAN: Duration = Duration::from_secs(1);

/// Tracks the highest rate of a counter over a second.
#[derive(Clone, Default, Debug)]
pub struct HighestRate {
    recent: VecDeque<(Time, u64)>,
    highest: Option<Rate>,
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
        }
    }
    /// The rate; `None` before a second has passed.
    pub const fn rate(&self) -> Option<Rate> {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_second_counts() {
        let mut highest = HighestRate::default();
        let mut total = 0;
        for n in 0..60_u64 {
            highest.add(Time::from_nanos(n * 100_000_000), total);
            // 8 Mbit/s, with 20 Mbit/s in the fourth second, and a burst of 100 ms.
            total += match n {
                30..40 => 250_000,
                50 => 300_000,
                _ => 100_000,
            };
        }
        assert_eq!(highest.rate(), Some(Rate::from_bits_per_second(20_000_000)));
    }
}
