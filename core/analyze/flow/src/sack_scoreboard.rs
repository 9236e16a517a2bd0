//! Selectively acknowledged ranges (RFC 2018).
use alloc::collections::BTreeMap;
use core::iter;

/// Disjoint, non-adjacent ranges of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackScoreboard {
    /// The highest range, or an empty one. Most blocks extend it or are above it.
    top: (u64, u64),
    /// The other ranges, start to stop.
    below: BTreeMap<u64, u64>,
    bytes: u64,
    /// Recent blocks in a ring buffer. Most are reported three times (RFC 2018 section 4).
    recent_blocks: [(u64, u64); 4],
    next: u8,
}

/// Segments or ranges above a hole that indicate its loss (RFC 6675 section 2, `DupThresh`).
pub(crate) const DUP_THRESH: u32 = 3;

impl SackScoreboard {
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    pub(crate) fn len(&self) -> usize {
        self.below.len() + usize::from(!self.is_empty())
    }
    /// End of the range that contains this byte or is the closest one below it.
    #[inline]
    fn stop_before(&self, byte: u64) -> Option<u64> {
        if byte >= self.top.0 {
            return (!self.is_empty()).then_some(self.top.1);
        }
        self.below.range(..=byte).next_back().map(|(_, stop)| *stop)
    }
    pub(crate) fn has(&self, byte: u64) -> bool {
        self.stop_before(byte).is_some_and(|stop| stop > byte)
    }
    pub(crate) fn covers(&self, start: u64, stop: u64) -> bool {
        self.stop_before(start).is_some_and(|end| end >= stop)
    }
    /// The first part of `start..stop` that is in no range.
    pub(crate) fn uncovered(&self, start: u64, stop: u64) -> Option<(u64, u64)> {
        let covered = self.stop_before(start).map_or(start, |end| start.max(end));
        if covered >= stop {
            return None;
        }
        if covered >= self.top.0 {
            return Some((covered, stop));
        }
        let next = self.below.range(covered..).next().map_or(self.top.0, |(next, _)| *next);
        Some((covered, stop.min(next)))
    }
    /// Whether this block was processed recently; records it.
    pub(crate) fn is_recent_block(&mut self, block: (u64, u64)) -> bool {
        if self.recent_blocks.contains(&block) {
            return true;
        }
        let places = self.recent_blocks.len();
        if let Some(place) = self.recent_blocks.get_mut(usize::from(self.next) % places) {
            *place = block;
        }
        self.next = self.next.wrapping_add(1);
        false
    }
    /// Adds bytes returned by [`SackScoreboard::uncovered`].
    pub(crate) fn insert(&mut self, start: u64, stop: u64) {
        let is_first = self.is_empty();
        self.bytes += stop - start;
        if is_first {
            self.top = (start, stop);
        } else if start == self.top.1 {
            self.top.1 = stop;
        } else if start > self.top.1 {
            self.below.insert(self.top.0, self.top.1);
            self.top = (start, stop);
        } else {
            self.insert_below(start, stop);
        }
    }
    fn insert_below(&mut self, start: u64, stop: u64) {
        let before = self.below.range_mut(..start).next_back().filter(|(_, end)| **end == start);
        if stop == self.top.0 {
            self.top.0 = before.map_or(start, |(first, _)| *first);
            self.below.remove(&self.top.0);
            return;
        }
        let first = before.map_or(start, |(first, _)| *first);
        let stop = self.below.remove(&stop).unwrap_or(stop);
        self.below.insert(first, stop);
    }
    /// Removes everything below; returns the number of removed bytes.
    pub(crate) fn trim(&mut self, below: u64) -> u64 {
        let before = self.bytes;
        while let Some(first) = self.below.first_entry().filter(|first| *first.key() < below) {
            let (start, stop) = first.remove_entry();
            self.bytes -= stop.min(below) - start;
            if stop > below {
                self.below.insert(below, stop);
            }
        }
        let (start, stop) = self.top;
        if below > start {
            self.bytes -= stop.min(below) - start;
            self.top = if stop > below { (below, stop) } else { (0, 0) };
        }
        before - self.bytes
    }
    /// Whether any byte above this one has arrived.
    pub(crate) const fn is_passed(&self, byte: u64) -> bool {
        self.top.0 > byte
    }
    /// Whether enough has arrived above this byte that it counts as lost (RFC 6675 section 4,
    /// `IsLost`): `DupThresh` ranges, or more than `DupThresh` - 1 segments of `full` bytes.
    pub(crate) fn is_lost(&self, byte: u64, full: u64) -> bool {
        let (mut ranges, mut bytes) = (0, 0);
        let others = self.below.iter().rev().map(|(start, stop)| (*start, *stop));
        for (start, stop) in iter::once(self.top).chain(others).take_while(|(start, _)| *start > byte) {
            ranges += 1;
            bytes += stop - start;
            if ranges >= DUP_THRESH || bytes > u64::from(DUP_THRESH - 1) * full {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use fathom_units::Rng;

    /// Start and end of each run of consecutive bytes, lowest first.
    fn ranges_of(bytes: &BTreeSet<u64>) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for byte in bytes {
            match ranges.last_mut().filter(|last| last.1 == *byte) {
                Some(last) => last.1 += 1,
                None => ranges.push((*byte, byte + 1)),
            }
        }
        ranges
    }

    #[test]
    fn ranges_equal_a_set_of_bytes() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut ranges, mut bytes) = (SackScoreboard::default(), BTreeSet::new());
            let mut acknowledged = 0;
            for _ in 0..100 {
                let start = acknowledged + rng.below(60);
                let stop = start + 1 + rng.below(12);
                if rng.chance(0.2) {
                    acknowledged = start;
                    let before = bytes.len();
                    bytes = bytes.split_off(&start);
                    assert_eq!(ranges.trim(start), (before - bytes.len()) as u64, "seed {seed}");
                }
                assert_eq!(
                    ranges.covers(start, stop),
                    (start..stop).all(|b| bytes.contains(&b)),
                    "seed {seed}"
                );
                let mut from = start;
                while let Some((gap, until)) = ranges.uncovered(from, stop) {
                    assert!((gap..until).all(|byte| bytes.insert(byte)), "seed {seed}");
                    ranges.insert(gap, until);
                    from = until;
                }
                assert!(ranges.covers(start, stop) && ranges.has(start), "seed {seed}");
                assert!((start..stop).all(|byte| bytes.contains(&byte)), "seed {seed}");
                let expected = ranges_of(&bytes);
                assert_eq!(
                    (ranges.len(), ranges.bytes()),
                    (expected.len(), bytes.len() as u64),
                    "seed {seed}"
                );
                let byte = acknowledged + rng.below(60);
                assert_eq!(
                    ranges.is_passed(byte),
                    expected.last().is_some_and(|last| last.0 > byte),
                    "seed {seed}"
                );
                let above = expected.iter().filter(|range| range.0 > byte);
                let (count, sum) = above.fold((0, 0), |(count, sum), one| (count + 1, sum + one.1 - one.0));
                assert_eq!(ranges.is_lost(byte, 10), count >= 3 || sum > 20, "seed {seed}");
            }
        }
    }
}
