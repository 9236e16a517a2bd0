//! What was lost and in flight at the ACKs of the last round.
use alloc::collections::VecDeque;

/// The connection after an ACK.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Packets delivered and lost in the connection.
    delivered: u64,
    lost: u32,
    /// Packets in flight before the next ACK: what followed this one was sent by then.
    in_flight: u32,
}

/// A [`State`] per ACK, from the one that the oldest packet in flight followed.
#[derive(Clone, Debug)]
pub(super) struct History(VecDeque<State>);

impl History {
    pub(super) fn new() -> Self {
        History(VecDeque::from([State { delivered: 0, lost: 0, in_flight: 0 }]))
    }
    /// The ACK before which `in_flight` packets were in the network.
    pub(super) fn add(&mut self, in_flight: u32, delivered: u64, lost: u32) {
        if let Some(last) = self.0.back_mut() {
            last.in_flight = in_flight;
        }
        self.0.push_back(State { delivered, lost, in_flight });
    }
    /// Packets lost and in flight when a packet was sent with `delivered`. Forgets older states.
    pub(super) fn at(&mut self, delivered: u64) -> (u32, u32) {
        while self.0.get(1).is_some_and(|next| next.delivered <= delivered) {
            self.0.pop_front();
        }
        self.0.front().map_or((0, 0), |state| (state.lost, state.in_flight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_state_of_the_ack_before_it() {
        let mut history = History::new();
        history.add(10, 2, 0);
        history.add(12, 4, 1);
        history.add(11, 5, 3);
        assert_eq!(history.at(0), (0, 10));
        assert_eq!(history.at(3), (0, 12));
        assert_eq!(history.at(4), (1, 11));
        // An older packet arrived late: the oldest state that is left.
        assert_eq!(history.at(1), (1, 11));
        assert_eq!(history.at(9), (3, 11));
    }
}
