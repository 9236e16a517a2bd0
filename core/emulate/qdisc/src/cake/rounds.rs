//! Deficit round robin that skips the rounds in which nothing is sent.
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// Flows that have used up a turn, in the order in which they are served next.
///
/// In each round a flow gets a fraction of a quantum, and it waits until it is out of debt. With a
/// hundred flows per host that takes a hundred rounds per packet. The number of rounds is known in
/// advance, so the flow is queued for the round in which it will be out of debt. Within a round,
/// flows are served in the order in which they were queued.
#[derive(Default)]
pub(super) struct Rounds {
    waiting: BinaryHeap<Reverse<Turn>>,
    /// The round of the most recent first flow.
    round: u64,
    /// Number of turns assigned; orders the flows of one round.
    turns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    round: u64,
    number: u64,
    flow: u16,
}

impl Rounds {
    pub(super) fn first(&self) -> Option<usize> {
        self.waiting.peek().map(|Reverse(turn)| usize::from(turn.flow))
    }
    pub(super) fn take_first(&mut self) {
        if let Some(Reverse(turn)) = self.waiting.pop() {
            self.round = turn.round;
        }
    }
    /// Delays the first flow by `rounds`.
    pub(super) fn delay_first(&mut self, rounds: u64) {
        self.turns += 1;
        if let Some(mut first) = self.waiting.peek_mut() {
            self.round = first.0.round;
            (first.0.round, first.0.number) = (self.round + rounds, self.turns);
        }
    }
    /// Adds a flow, to be served after `rounds`.
    pub(super) fn join(&mut self, flow: usize, rounds: u64) {
        let now = self.waiting.peek().map_or(self.round, |Reverse(turn)| turn.round);
        self.turns += 1;
        self.waiting.push(Reverse(Turn { round: now + rounds, number: self.turns, flow: flow as u16 }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn flows_are_served_by_round_and_then_by_insertion() {
        let mut rounds = Rounds::default();
        [(7, 1), (5, 3), (9, 1)].into_iter().for_each(|(flow, after)| rounds.join(flow, after));
        // 7 and 9 alternate. 5 is due in the fourth round, where it is first by insertion.
        let order: Vec<_> = core::iter::from_fn(|| {
            let first = rounds.first();
            rounds.delay_first(if first == Some(5) { 3 } else { 1 });
            first
        })
        .take(9)
        .collect();
        assert_eq!(order, [7, 9, 7, 9, 7, 5, 9, 7, 9]);
        // 7 leaves. 9 is due in the sixth round and 5 in the seventh; 1 is added to the seventh.
        rounds.take_first();
        rounds.join(1, 1);
        let mut rest = Vec::new();
        while let Some(first) = rounds.first() {
            rest.push(first);
            rounds.take_first();
        }
        assert_eq!(rest, [9, 5, 1]);
    }
}
