//! The rounds of deficit round robin, without going through those in which nothing is sent.
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// Flows that have used up a turn, in the order in which they are served next.
///
/// In each round a flow gets a part of a quantum, and it waits until it owes nothing. With a hundred flows of one host that
/// takes a hundred rounds for a packet, which are all known beforehand: a flow is put into the round in which it will be
/// out of debt. In a round flows come in the order in which they were put there.
#[derive(Default)]
pub(super) struct Rounds {
    waiting: BinaryHeap<Reverse<Turn>>,
    /// Of the flow that was first last.
    round: u64,
    /// Turns given out.
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
    /// The first flow leaves.
    pub(super) fn take_first(&mut self) {
        if let Some(Reverse(turn)) = self.waiting.pop() {
            self.round = turn.round;
        }
    }
    /// The first flow is served again after `rounds`.
    pub(super) fn delay_first(&mut self, rounds: u64) {
        self.turns += 1;
        if let Some(mut first) = self.waiting.peek_mut() {
            self.round = first.0.round;
            (first.0.round, first.0.number) = (self.round + rounds, self.turns);
        }
    }
    /// A flow joins, to be served after `rounds`.
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
    fn flows_come_in_their_rounds_in_the_order_in_which_they_were_put_there() {
        let mut rounds = Rounds::default();
        [(7, 1), (5, 3), (9, 1)].into_iter().for_each(|(flow, after)| rounds.join(flow, after));
        // 7 and 9 take turns. 5 is due in the fourth round, and goes before them as it has waited longer.
        let order: Vec<_> = core::iter::from_fn(|| {
            let first = rounds.first();
            rounds.delay_first(if first == Some(5) { 3 } else { 1 });
            first
        })
        .take(9)
        .collect();
        assert_eq!(order, [7, 9, 7, 9, 7, 5, 9, 7, 9]);
        // 7 leaves; 9 is due in the sixth round and 5 in the seventh, to which 1 is put.
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
