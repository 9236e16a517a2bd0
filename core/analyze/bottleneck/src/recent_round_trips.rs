//! Recent round-trip times by the send time of the segment.
use alloc::collections::VecDeque;
use fathom_flow::partition_near;

/// Maximum number of samples: those of the last four round trips, with [`STEPS`] per round trip.
const LIMIT: usize = 512;
const STEPS: f32 = 128.0;
/// Number of samples considered on either side of a loss.
const NEIGHBORS: usize = 2;

/// Round-trip times, thinned out to 128 samples per round trip.
#[derive(Clone, Default, Debug)]
pub(crate) struct RecentRoundTrips {
    /// Send time and round-trip time, both in ns.
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
    pub(crate) fn last(&self) -> Option<f32> {
        self.samples.back().map(|sample| sample.1)
    }
    /// Index of the first sample sent after `at`.
    fn after(&self, at: i64) -> usize {
        let (Some(first), Some(last)) = (self.samples.front(), self.samples.back()) else { return 0 };
        // Samples are evenly spread.
        let share = (at - first.0).max(0) as f64 / (last.0 - first.0).max(1) as f64;
        let guess = (share * self.samples.len() as f64) as usize;
        let is_before = |place: usize| self.samples.get(place).is_some_and(|sample| sample.0 <= at);
        partition_near(guess, self.samples.len(), is_before)
    }
    /// The longest round-trip time of packets sent close to `at`; `None` if none was answered
    /// within an eighth of a round trip.
    ///
    /// No packet that found room waited longer than in a full queue, so the maximum is used. Two
    /// samples on either side, because every second packet is acknowledged.
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
    fn the_longest_round_trip_near_a_loss_counts() {
        let mut recent = RecentRoundTrips::default();
        for (sent_ms, took_ms) in [(0, 700), (400, 90), (424, 110), (448, 100), (472, 95), (496, 130)] {
            recent.push(sent_ms * 1_000_000, f64::from(took_ms) * 1e6);
        }
        // Two on either side, within an eighth of the round-trip time: sent at 424 and 448.
        assert_eq!(recent.near(436_000_000), Some(110e6));
        assert_eq!(recent.near(440_000_000), Some(100e6));
        assert_eq!(recent.near(300_000_000), None);
    }
}
