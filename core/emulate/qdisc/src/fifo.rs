//! First in, first out, with a limit: the buffer of most devices.
use crate::store::Store;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use fathom_units::{Bytes, Duration, Time};

/// How much a [`Fifo`] holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Packets of any size, as in Linux `pfifo` and in the rings of network cards.
    Packets(u64),
    /// Wire bytes: a packet is taken in if the backlog with it is at most this, as in Linux `bfifo`. Where a large
    /// packet no longer fits a small one may, so loss depends on size.
    Bytes(Bytes),
    /// Sojourn, measured by time stamps, so that it holds on a link whose rate varies.
    ///
    /// How long an arrival will wait is not known when it comes, therefore such a queue drops at its head: at every
    /// arrival and departure it discards packets that have waited longer than this. The last packet left is never
    /// discarded, because on a link that needs longer than the limit for a single packet nothing would pass.
    /// (To refuse arrivals while the head is too old would oscillate: the packets between head and tail are late too,
    /// so the queue would run empty before it took the next packet in.)
    Sojourn(Duration),
}

/// Which packet goes when a [`Fifo`] is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropFrom {
    /// The arrival.
    Tail,
    /// The oldest: the arrival is taken in, then heads are dropped until the limit holds, so that the sender learns
    /// of the congestion earlier by the time that the queue takes to drain.
    Head,
}

/// Parameters of [`Fifo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FifoParams {
    /// How much it holds.
    pub limit: Limit,
    /// Which packet goes; ignored for [`Limit::Sojourn`], which drops at the head.
    pub drop_from: DropFrom,
}

/// A first-in-first-out queue.
pub struct Fifo<P> {
    params: FifoParams,
    store: Store<P>,
}

impl<P: Packet> Fifo<P> {
    /// An empty queue. Nothing is left to chance, so the seed does not matter.
    pub const fn new(params: FifoParams, _seed: u64) -> Self {
        Fifo { params, store: Store::new() }
    }

    /// True if the backlog with `packets` and `bytes` more is within the limit at `now`.
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
