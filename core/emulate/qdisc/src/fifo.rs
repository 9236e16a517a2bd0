//! FIFO with a limit: the buffer of most devices.
use crate::store::Store;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use fathom_units::{Bytes, Duration, Time};

/// The limit of a [`Fifo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Packets of any size, as in Linux `pfifo` and in the rings of network cards.
    Packets(u64),
    /// Wire bytes: a packet is queued if the backlog including it is at most this, as in Linux
    /// `bfifo`. A small packet may fit where a large one does not, so loss depends on size.
    Bytes(Bytes),
    /// Sojourn, measured with timestamps, so it also holds on a link with a varying rate.
    ///
    /// How long an arrival will wait is unknown, so this queue drops at the head: each arrival and
    /// departure discards the packets that have waited longer than this. The last packet is never
    /// discarded, or none would pass a link that needs longer than the limit for one. (Rejecting
    /// arrivals while the head is too old would oscillate: all queued packets are late then, so the
    /// queue would run empty before the next arrival.)
    Sojourn(Duration),
}

/// Which packet a full [`Fifo`] drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropFrom {
    /// Tail drop: the arrival.
    Tail,
    /// Head drop: the arrival is queued, then heads are dropped until the limit holds. The sender
    /// learns of the congestion earlier, by the time that the queue takes to drain.
    Head,
}

/// Parameters of [`Fifo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FifoParams {
    /// The limit.
    pub limit: Limit,
    /// Which packet to drop; ignored with [`Limit::Sojourn`], which drops at the head.
    pub drop_from: DropFrom,
}

/// A FIFO queue.
pub struct Fifo<P> {
    params: FifoParams,
    store: Store<P>,
}

impl<P: Packet> Fifo<P> {
    /// Creates an empty queue. The seed is unused: a FIFO makes no random decisions.
    pub const fn new(params: FifoParams, _seed: u64) -> Self {
        Fifo { params, store: Store::new() }
    }

    /// True if the backlog plus `packets` and `bytes` is within the limit at `now`.
    fn fits(&self, packets: u64, bytes: Bytes, now: Time) -> bool {
        let backlog = self.store.backlog();
        match self.params.limit {
            Limit::Packets(limit) => backlog.packets + packets <= limit,
            Limit::Bytes(limit) => backlog.bytes + bytes <= limit,
            Limit::Sojourn(limit) => {
                backlog.packets <= 1 || self.store.head().is_none_or(|head| head.sojourn(now) <= limit)
            }
        }
    }

    fn drop_heads(&mut self, now: Time, sink: &mut impl Sink<P>) {
        while !self.fits(0, Bytes::ZERO, now) {
            let Some(head) = self.store.pop() else { return };
            head.drop_into(DropReason::Overlimit, now, sink);
        }
    }

    fn drops_at_head(&self) -> bool {
        self.params.drop_from == DropFrom::Head || matches!(self.params.limit, Limit::Sojourn(_))
    }
}

impl<P: Packet> Qdisc<P> for Fifo<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        if self.drops_at_head() {
            self.store.push(packet, now);
            self.drop_heads(now, sink);
        } else if self.fits(1, packet.len(), now) {
            self.store.push(packet, now);
        } else {
            sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.drop_heads(now, sink);
        self.store.pop().map(|stored| stored.leave(now))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
