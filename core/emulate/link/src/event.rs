//! What happens to packets inside a bottleneck, and who observes it.
use fathom_qdisc::{Backlog, DropReason, MarkReason};
use fathom_units::{Duration, Time};

/// What happened to a packet inside a bottleneck.
#[derive(Debug)]
pub enum Event<'a, P> {
    /// It left the queue for the transmitter.
    Dequeued {
        /// The packet.
        packet: &'a P,
        /// How long it was in the queue.
        sojourn: Duration,
        /// What is left in the queue.
        backlog: Backlog,
    },
    /// The queue marked it; it is dequeued next.
    Marked {
        /// The packet.
        packet: &'a P,
        /// Why.
        reason: MarkReason,
    },
    /// The queue dropped it.
    Dropped {
        /// The packet.
        packet: &'a P,
        /// Why.
        reason: DropReason,
        /// How long it was in the queue; zero if it never entered.
        sojourn: Duration,
    },
    /// The link lost it after it was sent.
    Lost {
        /// The packet.
        packet: &'a P,
    },
    /// The link made a second one of it.
    Duplicated {
        /// The packet.
        packet: &'a P,
    },
}

/// Is told of events at their own times, in the order of time.
pub trait Observer<P> {
    /// `event` happened at `now`.
    fn event(&mut self, event: Event<'_, P>, now: Time);
}

/// For a host that does not look.
impl<P> Observer<P> for () {
    fn event(&mut self, _: Event<'_, P>, _: Time) {}
}
