//! What a receiver said it holds above its ACK, to see whether it breaks its word.
use alloc::collections::BTreeMap;

/// Ranges that touch are one; more than these are not watched (a hostile file could name any
/// number).
const MAX_RANGES: usize = 4096;

/// Selectively acknowledged ranges of one direction.
#[derive(Debug, Default)]
pub(crate) struct SackRanges {
    /// Start to stop.
    ranges: BTreeMap<u64, u64>,
    acknowledged: u64,
}

impl SackRanges {
    /// An ACK with its blocks. True if the receiver reneges (RFC 2018 section 8): all below
    /// `acknowledgement` has arrived and what begins there has been reported before, and yet it is
    /// not acknowledged. An ACK that was overtaken by a newer one says nothing.
    pub(crate) fn renege(&mut self, acknowledgement: u64, blocks: &[(u64, u64)]) -> bool {
        if acknowledgement < self.acknowledged {
            return false;
        }
        self.acknowledged = acknowledgement;
        let holding = self.ranges.range(..=acknowledgement).next_back();
        let broken = holding.is_some_and(|(_, stop)| *stop > acknowledgement);
        if broken {
            self.ranges.clear();
        }
        while self.ranges.first_key_value().is_some_and(|(start, _)| *start <= acknowledgement) {
            self.ranges.pop_first();
        }
        for (start, stop) in blocks.iter().filter(|(start, stop)| *start > acknowledgement && stop > start) {
            self.insert(*start, *stop);
        }
        broken
    }
    fn insert(&mut self, mut start: u64, mut stop: u64) {
        while let Some((its_start, its_stop)) = self.ranges.range(..=stop).next_back().map(|(a, b)| (*a, *b))
        {
            if its_stop < start {
                break;
            }
            self.ranges.remove(&its_start);
            (start, stop) = (start.min(its_start), stop.max(its_stop));
        }
        if self.ranges.len() < MAX_RANGES {
            self.ranges.insert(start, stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_throws_away_what_it_reported_reneges() {
        type Acks<'a> = &'a [(u64, &'a [(u64, u64)])];
        let cases: [(&str, Acks<'_>, bool); 6] = [
            ("the hole is filled", &[(10, &[(20, 30)]), (30, &[])], false),
            ("it stops where the range began", &[(10, &[(20, 30)]), (20, &[])], true),
            ("it stops inside", &[(10, &[(20, 30)]), (25, &[])], true),
            ("an older ACK comes late", &[(10, &[(20, 30)]), (40, &[]), (25, &[])], false),
            ("two ranges that touch", &[(10, &[(20, 30)]), (10, &[(30, 40)]), (30, &[])], true),
            ("D-SACK is below the ACK", &[(10, &[(5, 8), (20, 30)]), (15, &[(20, 30)])], false),
        ];
        for (name, acks, reneges) in cases {
            let mut sacked = SackRanges::default();
            let any = acks.iter().map(|(ack, blocks)| sacked.renege(*ack, blocks)).fold(false, |a, b| a | b);
            assert_eq!(any, reneges, "{name}");
        }
    }

    #[test]
    fn ranges_are_bounded() {
        let mut sacked = SackRanges::default();
        for n in 0..20_000_u64 {
            sacked.renege(0, &[(n * 10 + 5, n * 10 + 6)]);
        }
        assert!(sacked.ranges.len() <= MAX_RANGES);
    }
}
