//! Events inside a bottleneck, and their observer.
use fathom_qdisc::{Backlog, DropReason, MarkReason};
use fathom_units::{Duration, Time};

/// What happened to a packet inside a bottleneck.
#[derive(Debug)]
pub enum Event<'a, P> {
    /// The packet left the queue for the transmitter.
    Dequeued {
        /// The packet.
        packet: &'a P,
        /// Its time in the queue.
        sojourn: Duration,
        /// The remaining backlog.
        backlog: Backlog,
    },
    /// The queue marked the packet; its dequeue is the next event.
    Marked {
        /// The packet.
        packet: &'a P,
        /// The reason.
        reason: MarkReason,
    },
    /// The queue dropped the packet.
    Dropped {
        /// The packet.
        packet: &'a P,
        /// The reason.
        reason: DropReason,
        /// Its time in the queue; zero if it never entered.
        sojourn: Duration,
    },
    /// The link lost the packet after sending it.
    Lost {
        /// The packet.
        packet: &'a P,
    },
    /// The link duplicated the packet.
    Duplicated {
        /// The packet.
        packet: &'a P,
    },
}

/// Receives events in order of time, each with its own time.
pub trait Observer<P> {
    /// `event` happened at `now`.
    fn event(&mut self, event: Event<'_, P>, now: Time);
}

/// For a host that ignores events.
impl<P> Observer<P> for () {
    fn event(&mut self, _: Event<'_, P>, _: Time) {}
}
