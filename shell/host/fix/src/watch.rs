//! A shaper's counters over a phase of load.
use fathom_tc::Stats;
use fathom_units::{Duration, Rate, Time};

/// A full packet of Ethernet, as Linux counts it, in bytes: what a shaper drops are those of bulk flows.
const FULL_PACKET_BYTES: u64 = 1514;

/// Counters of one shaper while a load lasts.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// It shapes what arrives.
    is_behind_line: bool,
    carried: Vec<(Time, u64)>,
}

impl Watch {
    pub(crate) const fn new(is_behind_line: bool) -> Self {
        Watch { is_behind_line, carried: Vec::new() }
    }
    /// The line carries what leaves a shaper before it, and has carried what one behind it drops: with few packets in flight CAKE drops
    /// a tenth.
    pub(crate) fn note(&mut self, at: Time, stats: &Stats) {
        let dropped = if self.is_behind_line { u64::from(stats.drops) * FULL_PACKET_BYTES } else { 0 };
        self.carried.push((at, stats.sent_bytes + dropped));
    }
    /// What the line carried from `since` on.
    pub(crate) fn rate_since(&self, since: Time) -> Option<Rate> {
        let (first_at, first) = self.carried.iter().find(|(at, _)| *at >= since)?;
        let (last_at, last) = self.carried.last()?;
        let took: Duration = last_at.saturating_since(*first_at);
        let bits = last.saturating_sub(*first) as f64 * 8.0;
        (took > Duration::ZERO).then(|| Rate::from_bits_per_second((bits / took.as_secs_f64()) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_behind_the_line_was_carried_by_it() {
        // In two seconds 500 kB pass, and a hundred packets are dropped.
        let looks = [(0, 100_000, 5), (1_000, 300_000, 30), (2_000, 600_000, 105)];
        let rate = |is_behind_line| {
            let mut watch = Watch::new(is_behind_line);
            for (ms, sent_bytes, drops) in looks {
                watch.note(
                    Time::ZERO + Duration::from_millis(ms),
                    &Stats { sent_bytes, drops, ..Stats::default() },
                );
            }
            watch.rate_since(Time::ZERO).unwrap().as_bits_per_second()
        };
        assert_eq!([rate(false), rate(true)], [2_000_000, 2_605_600]);
    }
}
