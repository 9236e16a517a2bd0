//! What was sent again, kept until it is known whether that was needed.
use crate::limit::elapsed;
use crate::{Cause, Times};
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
    pub(crate) cause: Cause,
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
}

/// Acknowledged repairs are kept for so many round trips, and at least so long (ns), but no more than so many: a D-SACK comes within a round trip, and
/// a timeout rarely sends more again. Of fewer the caches hold more.
const KEPT_TRIPS: u64 = 4;
const LEAST_KEPT_NS: u64 = 1_000_000_000;
const MAX_SETTLED: usize = 4096;

impl Repairs {
    /// Whether there may be one that begins at `byte` or behind it: most ACKs are beyond all that was sent again.
    pub(crate) fn may_reach(&self, byte: u64) -> bool {
        self.highest >= byte && !self.all.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
    pub(crate) fn forget_lowest(&mut self) {
        self.all.pop_first();
    }
    /// The last one of this byte.
    pub(crate) fn at(&self, byte: u64) -> Option<&Repair> {
        self.all.range(..=byte).next_back().map(|(_, repair)| repair).filter(|repair| repair.stop > byte)
    }
    /// Notes one more. Gives how often it was sent again by now.
    pub(crate) fn add(&mut self, start: u64, repair: Repair) -> u32 {
        self.highest = self.highest.max(start);
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
        self.all.get(&start)
    }
    /// The first byte of the next one that begins in `start..stop`.
    pub(crate) fn next(&self, start: u64, stop: u64) -> Option<u64> {
        self.all.range(start..).next().filter(|(at, _)| **at < stop).map(|(at, _)| *at)
    }
    /// The latest time at which a part of `start..stop` was sent again.
    pub(crate) fn latest(&self, start: u64, stop: u64) -> Option<i64> {
        let within = self.all.range(start..).take_while(|(at, _)| **at < stop);
        within.map(|(_, repair)| repair.times.at).max()
    }
    /// All before `ack` is acknowledged; it is `now`, and a round trip takes so long, ns.
    pub(crate) fn settle(&mut self, ack: u64, now: i64, round_trip: u64) {
        let kept_ns = KEPT_TRIPS.saturating_mul(round_trip).max(LEAST_KEPT_NS);
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
