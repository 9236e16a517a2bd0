//! Round trips of the last while by the time when the segment was sent.
use alloc::collections::VecDeque;

/// Kept: with [`STEPS`] a round trip, those of the last four.
const LIMIT: usize = 512;
const STEPS: f32 = 128.0;

/// Round trips, thinned to 128 of them in the time of one.
#[derive(Clone, Default, Debug)]
pub(crate) struct Recent {
    /// When sent, and the round trip, both ns.
    samples: VecDeque<(i64, f32)>,
}

impl Recent {
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
    /// The round trip of what was sent at about `at`; `None` if nothing within an eighth of a round trip was answered.
    pub(crate) fn near(&self, at: i64) -> Option<f32> {
        let after = self.samples.partition_point(|sample| sample.0 <= at);
        let before = after.checked_sub(1).and_then(|number| self.samples.get(number));
        let both = [before, self.samples.get(after)].into_iter().flatten();
        let nearest = both.min_by_key(|sample| (sample.0 - at).abs())?;
        ((nearest.0 - at).abs() as f32 <= nearest.1 / 8.0).then_some(nearest.1)
    }
}
