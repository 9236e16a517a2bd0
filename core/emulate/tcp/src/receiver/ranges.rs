//! Received data: everything up to a byte, and ranges beyond it.
use crate::SackRange;
use alloc::vec::Vec;

/// The bytes received.
#[derive(Clone, Default, Debug)]
pub(super) struct Ranges {
    /// All bytes before this have been received.
    next: u64,
    /// Ranges beyond, ascending and disjoint.
    beyond: Vec<(u64, u64)>,
    /// The ranges that changed last, newest first.
    recent: [(u64, u64); 3],
}

impl Ranges {
    pub(super) fn next(&self) -> u64 {
        self.next
    }
    pub(super) fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }
    /// True if the whole range has been received.
    pub(super) fn has(&self, start: u64, end: u64) -> bool {
        let at = self.beyond.partition_point(|(_, high)| *high < end);
        end <= self.next || self.beyond.get(at).is_some_and(|(low, _)| *low <= start)
    }
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start > self.next {
            self.keep(start, end);
        } else {
            self.advance(end);
        }
    }
    /// All before `end` has been received: removes ranges that `next` passes or touches.
    fn advance(&mut self, end: u64) {
        self.next = end;
        if self.beyond.is_empty() {
            return;
        }
        let joined = self.beyond.iter().take_while(|(low, _)| *low <= end).count();
        // Ranges are disjoint, so only the last of these can end beyond `end`.
        if let Some((_, high)) = self.beyond.drain(..joined).next_back() {
            self.next = self.next.max(high);
        }
    }
    /// Adds a segment beyond `next` and merges it with adjacent ranges.
    fn keep(&mut self, start: u64, end: u64) {
        let first = self.beyond.partition_point(|(_, high)| *high < start);
        let last = self.beyond.partition_point(|(low, _)| *low <= end);
        let joined = match self.beyond.get(first..last) {
            Some([only]) => (start.min(only.0), end.max(only.1)),
            Some([low, .., high]) => (start.min(low.0), end.max(high.1)),
            _ => (start, end),
        };
        match self.beyond.get_mut(first) {
            // Usually one range grows.
            Some(range) if last == first + 1 => *range = joined,
            _ => drop(self.beyond.splice(first..last, [joined])),
        }
        self.touch(joined);
    }
    /// Makes `range` the newest and removes the ranges that it contains.
    fn touch(&mut self, range: (u64, u64)) {
        let outside = |(low, high): &(u64, u64)| *high < range.0 || range.1 < *low;
        let mut recent = [(0, 0); 3];
        recent[0] = range;
        let kept = self.recent.iter().filter(|r| r.0 < r.1).filter(|r| outside(r));
        recent[1..].iter_mut().zip(kept).for_each(|(slot, kept)| *slot = *kept);
        self.recent = recent;
    }
    /// The SACK blocks for the sender.
    pub(super) fn sack(&self) -> [SackRange; 3] {
        let mut sack = [SackRange::default(); 3];
        if !self.has_gap() {
            return sack;
        }
        let offset = |byte: u64| u32::try_from(byte.saturating_sub(self.next)).unwrap_or(u32::MAX);
        let beyond = self.recent.iter().filter(|(_, high)| *high > self.next);
        for (slot, (low, high)) in sack.iter_mut().zip(beyond) {
            *slot = SackRange { start: offset(*low), end: offset(*high) };
        }
        sack
    }
}
