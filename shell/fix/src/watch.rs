//! A shaper's counters over a phase of load.
use fathom_tc::Stats;
use fathom_units::{Duration, Rate, Time};

/// Counters of one shaper while a load lasts.
#[derive(Clone, Default, Debug)]
pub(crate) struct Watch {
    sent: Vec<(Time, u64)>,
}

impl Watch {
    pub(crate) fn note(&mut self, at: Time, stats: &Stats) {
        self.sent.push((at, stats.sent_bytes));
    }
    /// What left from `since` on.
    pub(crate) fn rate_since(&self, since: Time) -> Option<Rate> {
        let (first_at, first) = self.sent.iter().find(|(at, _)| *at >= since)?;
        let (last_at, last) = self.sent.last()?;
        let took: Duration = last_at.saturating_since(*first_at);
        let bits = last.saturating_sub(*first) as f64 * 8.0;
        (took > Duration::ZERO).then(|| Rate::from_bits_per_second((bits / took.as_secs_f64()) as u64))
    }
}
