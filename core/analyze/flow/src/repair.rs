//! What was sent again, kept until it is known whether that was needed.
use crate::limit::elapsed;
use crate::{RetransmissionCause, Times};
use alloc::collections::BTreeMap;

/// A range that was sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repair {
    pub(crate) stop: u64,
    /// The last time.
    pub(crate) times: Times,
    /// TSval of then, or 0.
    pub(crate) stamp: u32,
    /// Identification of then, or 0.
    pub(crate) identification: u16,
    pub(crate) cause: RetransmissionCause,
    /// How often it was sent again.
    pub(crate) count: u32,
    /// How often it was needless.
    pub(crate) needless: u32,
}

/// Repairs by their first byte. Those that were acknowledged stay for a while, as D-SACK comes later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    all: BTreeMap<u64, Repair>,
    /// The first byte of the highest there ever was.
    highest: u64,
    /// Where the farthest there ever was ends.
    farthest: u64,
    /// None begins in these bytes: most ACKs are of what was sent once.
    none_within: (u64, u64),
}

/// Acknowledged repairs are kept for so many round trips, and at least so long (ns), but no more than so many: a D-SACK comes within a round trip, and
/// a timeout rarely sends more again. Of fewer the caches hold more.
const KEPT_TRIPS: u64 = 4;
const MIN_KEPT_NS: u64 = 1_000_000_000;
const MAX_SETTLED: usize = 4096;

impl Repairs {
    /// The one that begins at `first`, which is not acknowledged yet, and all before it is.
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
    /// The last one of this byte.
    pub(crate) fn at(&self, byte: u64) -> Option<&Repair> {
        if byte >= self.farthest {
            return None;
        }
        self.all.range(..=byte).next_back().map(|(_, repair)| repair).filter(|repair| repair.stop > byte)
    }
    /// Notes one more. Gives how often it was sent again by now.
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
    /// One of this first byte was needless. Gives it, if that was not known.
    pub(crate) fn needless(&mut self, start: u64) -> Option<Repair> {
        let repair = self.all.get_mut(&start).filter(|repair| repair.needless < repair.count)?;
        repair.needless += 1;
        Some(*repair)
    }
    /// The one that begins here.
    pub(crate) fn starting(&self, start: u64) -> Option<&Repair> {
        if start > self.highest { None } else { self.all.get(&start) }
    }
    /// The first byte of the next one that begins in `start..stop`.
    pub(crate) fn next(&self, start: u64, stop: u64) -> Option<u64> {
        self.all.range(start..).next().filter(|(at, _)| **at < stop).map(|(at, _)| *at)
    }
    /// The latest time at which a part of `start..stop` was sent again.
    pub(crate) fn latest(&self, start: u64, stop: u64) -> Option<i64> {
        if self.none_within.0 <= start && stop <= self.none_within.1 {
            return None;
        }
        let within = self.all.range(start..).take_while(|(at, _)| **at < stop);
        within.map(|(_, repair)| repair.times.at).max()
    }
    /// All before `ack` is acknowledged; it is `now`, and a round trip takes so long, ns.
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
    fn the_first_is_found_as_in_a_list() {
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
