//! CoDel, RFC 8289: the control law as a separate part, and the discipline with one queue.
mod control;

pub use control::ControlParams;
pub(crate) use control::{Control, ControlState};

use crate::store::Store;
use crate::{Backlog, DropReason, Packet, Qdisc, SingleQueueParams, Sink};
use fathom_units::{Bytes, Duration, Time};

/// Parameters of [`Codel`].
pub type CodelParams = SingleQueueParams<ControlParams>;

/// CoDel with a single queue.
pub struct Codel<P> {
    params: CodelParams,
    state: ControlState,
    store: Store<P>,
    max_packet: Bytes,
}

impl<P: Packet> Codel<P> {
    /// Creates an empty queue. The seed is unused: CoDel makes no random decisions.
    pub fn new(params: CodelParams, _seed: u64) -> Self {
        Codel { params, state: ControlState::default(), store: Store::new(), max_packet: Bytes::ZERO }
    }
}

impl<P: Packet> Qdisc<P> for Codel<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.max_packet = self.max_packet.max(packet.len());
        if self.store.backlog().packets < self.params.limit_packets {
            self.store.push(packet, now);
        } else {
            sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let (params, state, store) = (&self.params.control, &mut self.state, &mut self.store);
        let (max_packet, other_backlog) = (self.max_packet, Bytes::ZERO);
        Control { params, state, store, max_packet, other_backlog }.dequeue(now, sink)
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
