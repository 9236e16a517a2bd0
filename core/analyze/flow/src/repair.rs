//! Retransmissions, kept until it is known whether they were spurious.
use crate::limit::elapsed;
use crate::{RetransmissionCause, Times};
use alloc::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Repair {
    pub(crate) stop: u64,
    /// Time of the last retransmission.
    pub(crate) times: Times,
    /// TSval of the last retransmission, or 0.
    pub(crate) stamp: u32,
    /// IPv4 identification of the last retransmission, or 0.
    pub(crate) identification: u16,
    pub(crate) cause: RetransmissionCause,
    pub(crate) count: u32,
    /// Number of spurious retransmissions.
    pub(crate) needless: u32,
}

/// Retransmissions by first byte. Acknowledged ones are kept, because a D-SACK arrives later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    all: BTreeMap<u64, Repair>,
    /// Highest first byte so far.
    highest: u64,
    /// Highest end so far.
    farthest: u64,
    /// No retransmission starts in this range. Most ACKs are for bytes that were sent once.
    none_within: (u64, u64),
}

/// Acknowledged retransmissions are kept for this many round trips and at least this long (ns), up
/// to a maximum number. A D-SACK arrives within a round trip, and a timeout rarely retransmits more
/// than the maximum. A small number stays in the CPU caches.
const KEPT_TRIPS: u64 = 4;
const MIN_KEPT_NS: u64 = 1_000_000_000;
const MAX_SETTLED: usize = 4096;

impl Repairs {
    /// The retransmission that starts at `first`, the lowest unacknowledged byte.
    pub(crate) fn first(&mut self, first: u64) -> Option<&Repair> {
        if self.none_within.0 <= first && first < self.none_within.1 {
            return None;
        }
        let next = if first > self.highest { None } else { self.all.range(first..).next() };
        self.none_within = (first, next.map_or(u64::MAX, |(start, _)| *start));
        next.filter(|(start, _)| **start == first).map(|(_, repair)| repair)
    }
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
    pub(crate) fn forget_lowest(&mut self) {
        self.all.pop_first();
    }
    /// The last retransmission that covers this byte.
    pub(crate) fn at(&self, byte: u64) -> Option<&Repair> {
        if byte >= self.farthest {
            return None;
        }
        self.all.range(..=byte).next_back().map(|(_, repair)| repair).filter(|repair| repair.stop > byte)
    }
    /// Adds a retransmission and returns how often this range has been retransmitted.
    pub(crate) fn add(&mut self, start: u64, repair: Repair) -> u32 {
        self.highest = self.highest.max(start);
        self.farthest = self.farthest.max(repair.stop);
        if start >= self.none_within.0 {
            self.none_within.1 = self.none_within.1.min(start);
        }
        let there = self.all.entry(start).or_insert(Repair { count: 0, needless: 0, ..repair });
        let (count, needless) = (there.count + 1, there.needless);
        *there = Repair { stop: there.stop.max(repair.stop), count, needless, ..repair };
        count
    }
    /// Marks a retransmission as spurious and returns it, unless all of them are already marked.
    pub(crate) fn needless(&mut self, start: u64) -> Option<Repair> {
        let repair = self.all.get_mut(&start).filter(|repair| repair.needless < repair.count)?;
        repair.needless += 1;
        Some(*repair)
    }
    /// The retransmission that starts here.
    pub(crate) fn starting(&self, start: u64) -> Option<&Repair> {
        if start > self.highest { None } else { self.all.get(&start) }
    }
    /// First byte of the next retransmission that starts in `start..stop`.
    pub(crate) fn next(&self, start: u64, stop: u64) -> Option<u64> {
        self.all.range(start..).next().filter(|(at, _)| **at < stop).map(|(at, _)| *at)
    }
    /// Time of the latest retransmission of a part of `start..stop`.
    pub(crate) fn latest(&self, start: u64, stop: u64) -> Option<i64> {
        if self.none_within.0 <= start && stop <= self.none_within.1 {
            return None;
        }
        let within = self.all.range(start..).take_while(|(at, _)| **at < stop);
        within.map(|(_, repair)| repair.times.at).max()
    }
    /// Removes old entries, after all bytes before `ack` were acknowledged at `now`.
    pub(crate) fn settle(&mut self, ack: u64, now: i64, round_trip: u64) {
        let kept_ns = KEPT_TRIPS.saturating_mul(round_trip).max(MIN_KEPT_NS);
        let is_settled = |repair: &Repair, count: usize| {
            repair.stop <= ack && (count > MAX_SETTLED || elapsed(repair.times.at, now) > kept_ns)
        };
        while let Some((start, _)) =
            self.all.first_key_value().filter(|(_, repair)| is_settled(repair, self.all.len()))
        {
            let start = *start;
            self.all.remove(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fathom_units::Rng;

    #[test]
    fn lookups_equal_those_in_a_list() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut repairs, mut list) = (Repairs::default(), Vec::new());
            let mut acknowledged = 0;
            for at in 0..200_i64 {
                let start = acknowledged + rng.below(30);
                if rng.chance(0.4) {
                    let times = Times { at, frame: at as u64 };
                    let (cause, stop) = (RetransmissionCause::Fast, start + 5);
                    let repair =
                        Repair { stop, times, stamp: 0, identification: 0, cause, count: 0, needless: 0 };
                    repairs.add(start, repair);
                    list.push((start, at));
                }
                acknowledged += rng.below(4);
                let last = |first: u64| list.iter().rev().find(|one| one.0 == first).map(|one| one.1);
                let found = repairs.first(acknowledged).map(|repair| repair.times.at);
                assert_eq!(found, last(acknowledged), "seed {seed}");
                assert_eq!(repairs.starting(start).map(|repair| repair.times.at), last(start), "seed {seed}");
                let stop = acknowledged + rng.below(20);
                let within = (acknowledged..stop).filter_map(last).max();
                assert_eq!(repairs.latest(acknowledged, stop), within, "seed {seed}");
            }
        }
    }
}
