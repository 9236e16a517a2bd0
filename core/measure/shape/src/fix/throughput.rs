//! Throughput of the line during a load, by the counters of its shaper.
use super::ShaperCounters;
use crate::FULL_FRAME;
use alloc::vec::Vec;
use fathom_units::{Direction, Duration, Rate, Time};

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Throughput {
    direction: Direction,
    carried: Vec<(Time, u64)>,
}

impl Throughput {
    pub(super) const fn new(direction: Direction) -> Self {
        Throughput { direction, carried: Vec::new() }
    }
    /// Records a reading. The line carries what leaves the egress shaper. At ingress, it has also
    /// carried what the shaper drops: with few packets in flight, CAKE drops a tenth. Dropped
    /// packets belong to bulk flows and are full-size.
    pub(super) fn note(&mut self, at: Time, counters: &ShaperCounters) {
        let dropped = match self.direction {
            Direction::Up => 0,
            Direction::Down => counters.dropped_packets * FULL_FRAME.get(),
        };
        self.carried.push((at, counters.sent_bytes + dropped));
    }
    pub(super) fn since(&self, since: Time) -> Option<Rate> {
        let (first_at, first) = self.carried.iter().find(|(at, _)| *at >= since)?;
        let (last_at, last) = self.carried.last()?;
        let duration: Duration = last_at.saturating_since(*first_at);
        let bits = last.saturating_sub(*first) as f64 * 8.0;
        (duration > Duration::ZERO)
            .then(|| Rate::from_bits_per_second((bits / duration.as_secs_f64()) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_behind_the_line_count_as_carried() {
        // In two seconds 500 kB are sent and a hundred packets are dropped.
        let readings = [(0, 100_000, 5), (1_000, 300_000, 30), (2_000, 600_000, 105)];
        let rate = |direction| {
            let mut throughput = Throughput::new(direction);
            for (ms, sent_bytes, dropped_packets) in readings {
                let counters = ShaperCounters { sent_bytes, dropped_packets, ..ShaperCounters::default() };
                throughput.note(Time::ZERO + Duration::from_millis(ms), &counters);
            }
            throughput.since(Time::ZERO).unwrap().as_bits_per_second()
        };
        assert_eq!([rate(Direction::Up), rate(Direction::Down)], [2_000_000, 2_605_600]);
    }
}
