//! Segments by the numbers that they have in a log.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// A segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    number: u64,
    frame: u64,
}

/// Those that are not acknowledged, by the byte after their last; of what was sent twice, the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Unacknowledged {
    segments: BTreeMap<u64, Sent>,
    next: u64,
}

/// Numbers, in ascending order, as ranges.
pub(super) struct Numbers(Vec<u64>);

impl Numbers {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Unacknowledged {
    /// Numbers a segment.
    pub(super) fn add(&mut self, start: u64, stop: u64, frame: u64) -> u64 {
        let number = self.next;
        self.next += 1;
        self.segments.insert(stop, Sent { start, number, frame });
        number
    }
    /// The number of the segment that ends here and passed in this frame.
    pub(super) fn number(&self, stop: u64, frame: u64) -> Option<u64> {
        self.segments.get(&stop).filter(|sent| sent.frame == frame).map(|sent| sent.number)
    }
    /// Takes out what an ACK and its SACK blocks tell to have arrived.
    pub(super) fn acknowledged(&mut self, until: u64, blocks: &[(u64, u64)]) -> Numbers {
        let mut numbers = Vec::new();
        while let Some(first) = self.segments.first_entry().filter(|first| *first.key() <= until) {
            numbers.push(first.remove().number);
        }
        for (start, stop) in blocks.iter().copied().filter(|(_, stop)| *stop > until) {
            // What a later ACK repeats was taken out before.
            while let Some((place, sent)) =
                self.segments.range(start + 1..=stop).next().map(|(place, sent)| (*place, *sent))
            {
                if sent.start < start {
                    break;
                }
                self.segments.remove(&place);
                numbers.push(sent.number);
            }
        }
        numbers.sort_unstable();
        Numbers(numbers)
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (place, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                write!(f, "{comma}[{first},{last}]")?;
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn numbers_leave_once_and_in_ranges() {
        let mut sent = Unacknowledged::default();
        (0..10).for_each(|n| assert_eq!(sent.add(n * 100, n * 100 + 100, n), n));
        assert_eq!(sent.acknowledged(200, &[(300, 500), (800, 900)]).to_string(), "[[0,1],[3,4],[8,8]]");
        assert_eq!(sent.acknowledged(200, &[(300, 600), (800, 900)]).to_string(), "[[5,5]]");
        assert_eq!(sent.number(300, 2), Some(2));
        // Sent again: the repair's number counts from now on.
        assert_eq!(sent.add(200, 300, 77), 10);
        assert_eq!((sent.number(300, 2), sent.number(300, 77)), (None, Some(10)));
        assert_eq!(sent.acknowledged(1000, &[]).to_string(), "[[6,7],[9,10]]");
        assert_eq!(sent.acknowledged(1000, &[]).to_string(), "[]");
    }
}
