//! A token bucket filter: a shaper before one queue.
use crate::bucket::Bucket;
use crate::{AnyQdisc, Backlog, DropFrom, DropReason, FifoParams, Limit, Packet, Qdisc, Sink, Spec};
use alloc::boxed::Box;
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

/// Parameters of [`Tbf`].
#[derive(Clone, PartialEq, Debug)]
pub struct TbfParams {
    /// Wire bytes that leave in the long run, in bit/s.
    pub rate: Rate,
    /// Depth of the bucket: what may leave at once after a pause. No larger packet is taken.
    pub burst: Bytes,
    /// A second bucket before the first, for what leaves within a burst; none by default.
    pub peak: Option<PeakParams>,
    /// What waits for tokens.
    pub queue: TbfQueue,
}

/// The peak rate of a [`Tbf`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeakParams {
    /// More than the rate.
    pub rate: Rate,
    /// Depth of the second bucket, at least the largest packet. No larger packet is taken.
    pub mtu: Bytes,
}

/// The queue of a [`Tbf`].
#[derive(Clone, PartialEq, Debug)]
pub enum TbfQueue {
    /// First in, first out, with at most so many wire bytes.
    Limit(Bytes),
    /// Another discipline with its own limit.
    Child(Box<Spec>),
}

/// A packet that the child has given up and that waits for tokens.
struct Head<P> {
    packet: P,
    /// When it was taken out of the child, and its sojourn by then.
    taken: Time,
    sojourn: Duration,
}

/// A token bucket filter, as in Linux.
///
/// Its tokens are exact, where Linux rounds those of a packet down to a nanosecond. (A bucket no larger than a packet is
/// full when the packet goes at a whole nanosecond, and loses the rest of it; a burst of two packets keeps the rate.)
///
/// The size of the next packet must be known before it may go, and which packet is next only a dequeue can tell where
/// the child drops at dequeue. So the head is taken out of the child when the link asks for it, and waits outside until
/// its tokens are there; Linux does the same with every child that is no fifo. The child's algorithm sees the packet's
/// sojourn at that moment. Backlog and sojourn of this discipline include the wait, and so does its `limit`; a limit of
/// the child's own does not.
pub struct Tbf<P> {
    buckets: [Option<Bucket>; 2],
    max_packet: Bytes,
    limit: Bytes,
    head: Option<Head<P>>,
    child: Box<AnyQdisc<P>>,
}

impl<P: Packet> Tbf<P> {
    /// An empty queue and full buckets; `seed` is for the child.
    pub fn new(params: TbfParams, seed: u64) -> Self {
        let unlimited = FifoParams { limit: Limit::Bytes(Bytes(u64::MAX)), drop_from: DropFrom::Tail };
        let (limit, spec) = match params.queue {
            TbfQueue::Limit(limit) => (limit, Spec::Fifo(unlimited)),
            TbfQueue::Child(spec) => (Bytes(u64::MAX), *spec),
        };
        let peak = params.peak;
        Tbf {
            buckets: [
                Some(Bucket::new(params.rate, params.burst)),
                peak.map(|peak| Bucket::new(peak.rate, peak.mtu)),
            ],
            max_packet: peak.map_or(params.burst, |peak| peak.mtu.min(params.burst)),
            limit,
            head: None,
            child: Box::new(spec.build(Rng::stream(seed, "tbf").next_u64())),
        }
    }

    /// When all buckets have the tokens of `len`.
    fn ready(&self, len: Bytes, now: Time) -> Time {
        self.buckets.iter().flatten().map(|bucket| bucket.ready(len, now)).max().unwrap_or(now)
    }

    fn take_head(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<Head<P>> {
        let sink = &mut (sink as &mut dyn Sink<P>);
        self.head.take().or_else(|| {
            let (packet, sojourn) = self.child.dequeue(now, sink)?;
            Some(Head { packet, taken: now, sojourn })
        })
    }
}

impl<P: Packet> Qdisc<P> for Tbf<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        if packet.len() > self.max_packet {
            return sink.dropped(packet, DropReason::Oversize, Duration::ZERO, now);
        }
        if self.backlog().bytes + packet.len() > self.limit {
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        // One type of sink for all depths, or queues inside queues would have no end of types.
        self.child.enqueue(packet, now, &mut (sink as &mut dyn Sink<P>));
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let head = self.take_head(now, sink)?;
        let len = head.packet.len();
        if self.ready(len, now) > now {
            self.head = Some(head);
            return None;
        }
        self.buckets.iter_mut().flatten().for_each(|bucket| bucket.spend(len, now));
        Some((head.packet, head.sojourn + (now - head.taken)))
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        match &self.head {
            Some(head) => Some(self.ready(head.packet.len(), now)),
            None => self.child.next_ready(now),
        }
    }
    fn backlog(&self) -> Backlog {
        let head = self.head.as_ref().map_or(Bytes::ZERO, |head| head.packet.len());
        let Backlog { bytes, packets } = self.child.backlog();
        Backlog { bytes: bytes + head, packets: packets + u64::from(self.head.is_some()) }
    }
}
