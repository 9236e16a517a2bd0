//! The end of a burst.

/// The queue is empty again when a datagram waits for at most this share of the longest wait, or
/// this time, in ns.
const EMPTY: i128 = 10;
const EMPTY_NS: i128 = 2_000_000;

/// When a datagram was sent, relative to those at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// Before them, or far from others.
    Apart,
    /// With others at once.
    AtOnce,
    /// After them.
    After,
}

/// Recognizes when the datagrams of a burst no longer wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tail {
    least_ns: i128,
    most_ns: i128,
    is_empty: bool,
}

impl Default for Tail {
    fn default() -> Self {
        Tail { least_ns: i128::MAX, most_ns: i128::MIN, is_empty: false }
    }
}

impl Tail {
    /// A datagram arrived after `delay_ns`, which may include a constant difference of clocks.
    pub fn arrived(&mut self, delay_ns: i128, sent: Sent) {
        self.most_ns = self.most_ns.max(delay_ns);
        // Of those at once, a busy host records some send times late: their delay looks short.
        if sent != Sent::AtOnce {
            self.least_ns = self.least_ns.min(delay_ns);
        }
        if sent == Sent::After {
            let short_ns = ((self.most_ns - self.least_ns) / EMPTY).max(EMPTY_NS);
            self.is_empty |= delay_ns - self.least_ns <= short_ns;
        }
    }
    /// Whether one that was sent after those at once did not wait.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.is_empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i128 = 1_000_000;

    /// The clock of the receiver is an hour behind, and a send time at once was recorded late.
    #[test]
    fn a_tail_ends_when_a_datagram_does_not_wait() {
        let offset = -3_600_000 * MS;
        let mut tail = Tail::default();
        for (delay_ms, sent, is_empty) in [
            (10, Sent::Apart, false),
            (2, Sent::AtOnce, false),
            (410, Sent::AtOnce, false),
            (300, Sent::After, false),
            (51, Sent::After, false),
            (50, Sent::After, true),
            (90, Sent::After, true),
        ] {
            tail.arrived(offset + delay_ms * MS, sent);
            assert_eq!(tail.is_empty(), is_empty, "{delay_ms} ms");
        }
    }
}
