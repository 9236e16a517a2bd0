//! What is selectively acknowledged (RFC 2018): the receiver's islands.
use alloc::collections::BTreeMap;

/// Ranges of bytes that do not touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selective {
    /// Start to stop.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
    /// The last blocks that were told, in a ring: most are told three times (RFC 2018 section 4), and looked up once.
    told: [(u64, u64); 4],
    next: u8,
}

/// Segments or islands above a hole that tell of its loss (RFC 6675 section 2, `DupThresh`).
pub(crate) const DUP_THRESH: u32 = 3;

impl Selective {
    /// Bytes in all ranges.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }
    /// Whether this byte is in a range.
    pub(crate) fn has(&self, byte: u64) -> bool {
        self.ranges.range(..=byte).next_back().is_some_and(|(_, stop)| *stop > byte)
    }
    /// Whether all of these bytes are in a range.
    pub(crate) fn covers(&self, start: u64, stop: u64) -> bool {
        self.ranges.range(..=start).next_back().is_some_and(|(_, end)| *end >= stop)
    }
    /// The first bytes of `start..stop` that are in no range.
    pub(crate) fn uncovered(&self, start: u64, stop: u64) -> Option<(u64, u64)> {
        let covered = self.ranges.range(..=start).next_back().map_or(start, |(_, end)| start.max(*end));
        if covered >= stop {
            return None;
        }
        let next = self.ranges.range(covered..).next().map_or(stop, |(next, _)| stop.min(*next));
        Some((covered, next))
    }
    /// Whether this block was told of late; from now on it was.
    pub(crate) fn is_told(&mut self, block: (u64, u64)) -> bool {
        if self.told.contains(&block) {
            return true;
        }
        let places = self.told.len();
        if let Some(place) = self.told.get_mut(usize::from(self.next) % places) {
            *place = block;
        }
        self.next = self.next.wrapping_add(1);
        false
    }
    /// Adds bytes that [`Selective::uncovered`] gave.
    pub(crate) fn insert(&mut self, start: u64, stop: u64) {
        self.bytes += stop - start;
        let stop = self.ranges.remove(&stop).unwrap_or(stop);
        if let Some((_, end)) = self.ranges.range_mut(..start).next_back().filter(|(_, end)| **end == start) {
            *end = stop;
        } else {
            self.ranges.insert(start, stop);
        }
    }
    /// Forgets what is below; gives how many bytes.
    pub(crate) fn trim(&mut self, below: u64) -> u64 {
        let before = self.bytes;
        while let Some(first) = self.ranges.first_entry().filter(|first| *first.key() < below) {
            let (start, stop) = (*first.key(), *first.get());
            first.remove();
            self.bytes -= stop.min(below) - start;
            if stop > below {
                self.ranges.insert(below, stop);
            }
        }
        before - self.bytes
    }
    /// Whether anything above this byte arrived.
    pub(crate) fn is_passed(&self, byte: u64) -> bool {
        self.ranges.last_key_value().is_some_and(|(start, _)| *start > byte)
    }
    /// Whether so much above this byte arrived that it counts as lost (RFC 6675 section 4, `IsLost`): `DupThresh` islands, or more
    /// than `DupThresh` - 1 segments of `full` bytes.
    pub(crate) fn tells_loss(&self, byte: u64, full: u64) -> bool {
        let (mut islands, mut bytes) = (0, 0);
        for (start, stop) in self.ranges.iter().rev().take_while(|(start, _)| **start > byte) {
            islands += 1;
            bytes += stop - start;
            if islands >= DUP_THRESH || bytes > u64::from(DUP_THRESH - 1) * full {
                return true;
            }
        }
        false
    }
}
