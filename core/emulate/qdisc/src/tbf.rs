//! A token bucket filter: a shaper in front of one queue.
use crate::bucket::Bucket;
use crate::{AnyQdisc, Backlog, DropFrom, DropReason, FifoParams, Limit, Packet, Qdisc, Sink, Spec};
use alloc::boxed::Box;
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

/// Parameters of [`Tbf`].
#[derive(Clone, PartialEq, Debug)]
pub struct TbfParams {
    /// The long-run rate, in wire bits per second.
    pub rate: Rate,
    /// Bucket depth: bytes that may be sent at once after a pause. Larger packets are dropped.
    pub burst: Bytes,
    /// A second bucket that limits the rate within a burst; none by default.
    pub peak: Option<PeakParams>,
    /// The queue for packets that wait for tokens.
    pub queue: TbfQueue,
}

/// The peak rate of a [`Tbf`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeakParams {
    /// The peak rate; above the rate.
    pub rate: Rate,
    /// Depth of the second bucket, at least the largest packet. Larger packets are dropped.
    pub mtu: Bytes,
}

/// The queue of a [`Tbf`].
#[derive(Clone, PartialEq, Debug)]
pub enum TbfQueue {
    /// A FIFO with a limit in wire bytes.
    Limit(Bytes),
    /// Another discipline with its own limit.
    Child(Box<Spec>),
}

/// A packet that was dequeued from the child and waits for tokens.
struct Head<P> {
    packet: P,
    /// When it was dequeued from the child, and its sojourn at that time.
    taken: Time,
    sojourn: Duration,
}

/// A token bucket filter, as in Linux.
///
/// Tokens are exact, where Linux rounds the tokens of a packet down to a nanosecond. (Packets leave
/// at whole nanoseconds. A bucket no larger than one packet is full by then and loses the fraction;
/// a burst of two packets keeps the exact rate.)
///
/// The shaper must know the size of the next packet before sending it. If the child drops at
/// dequeue, only a dequeue determines the next packet. So the head is dequeued from the child when
/// the link requests a packet, and waits for its tokens outside; Linux does the same with every
/// child except a FIFO. The child's AQM sees the sojourn at that moment. The backlog and sojourn of
/// this discipline include the wait, and so does its `limit`, but not the limit of a child.
pub struct Tbf<P> {
    buckets: [Option<Bucket>; 2],
    max_packet: Bytes,
    limit: Bytes,
    head: Option<Head<P>>,
    child: Box<AnyQdisc<P>>,
}

impl<P: Packet> Tbf<P> {
    /// Creates an empty queue and full buckets. `seed` is for the child.
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

    /// When all buckets have the tokens for `len`.
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
        // A `dyn` sink: otherwise nested queues would instantiate an infinite number of sink types.
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
