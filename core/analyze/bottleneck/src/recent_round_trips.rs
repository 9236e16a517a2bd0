//! Round trips of the last while by the time when the segment was sent.
use alloc::collections::VecDeque;
use fathom_flow::partition_near;

/// Kept: with [`STEPS`] a round trip, those of the last four.
const LIMIT: usize = 512;
const STEPS: f32 = 128.0;
/// Looked at on either side of a loss.
const NEIGHBORS: usize = 2;

/// Round trips, thinned to 128 of them in the time of one.
#[derive(Clone, Default, Debug)]
pub(crate) struct RecentRoundTrips {
    /// When sent, and the round trip, both ns.
    samples: VecDeque<(i64, f32)>,
}

impl RecentRoundTrips {
    #[inline]
    pub(crate) fn push(&mut self, sent_at: i64, round_trip: f64) {
        let round_trip = round_trip as f32;
        let next = self.samples.back().map_or(i64::MIN, |last| last.0 + (round_trip / STEPS) as i64);
        if sent_at < next {
            return;
        }
        if self.samples.len() >= LIMIT {
            self.samples.pop_front();
        }
        self.samples.push_back((sent_at, round_trip));
    }
    /// The latest.
    pub(crate) fn last(&self) -> Option<f32> {
        self.samples.back().map(|sample| sample.1)
    }
    /// The place of the first that was sent after `at`.
    fn after(&self, at: i64) -> usize {
        let (Some(first), Some(last)) = (self.samples.front(), self.samples.back()) else { return 0 };
        // They were thinned to be evenly spread.
        let share = (at - first.0).max(0) as f64 / (last.0 - first.0).max(1) as f64;
        let guess = (share * self.samples.len() as f64) as usize;
        let is_before = |place: usize| self.samples.get(place).is_some_and(|sample| sample.0 <= at);
        partition_near(guess, self.samples.len(), is_before)
    }
    /// The longest round trip of what was sent next to `at`; `None` if nothing within an eighth of a round trip was answered.
    ///
    /// None that found room waited longer than in a full queue. Every second packet is answered, and so it is two each way.
    pub(crate) fn near(&self, at: i64) -> Option<f32> {
        let after = self.after(at);
        let neighbors = (after.saturating_sub(NEIGHBORS)..after + NEIGHBORS)
            .filter_map(|number| self.samples.get(number));
        let near = neighbors.filter(|sample| (sample.0 - at).abs() as f32 <= sample.1 / 8.0);
        near.map(|sample| sample.1).reduce(f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_to_a_loss_the_longest_counts() {
        let mut recent = RecentRoundTrips::default();
        for (sent_ms, took_ms) in [(0, 700), (400, 90), (424, 110), (448, 100), (472, 95), (496, 130)] {
            recent.push(sent_ms * 1_000_000, f64::from(took_ms) * 1e6);
        }
        // Two on either side, within an eighth of the round trip each: what was sent at 424 and 448.
        assert_eq!(recent.near(436_000_000), Some(110e6));
        assert_eq!(recent.near(440_000_000), Some(100e6));
        assert_eq!(recent.near(300_000_000), None);
    }
}
