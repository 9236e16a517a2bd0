//! Any of the disciplines behind one type, without a virtual call per packet.
use crate::{Backlog, Codel, DropReason, Fifo, FqCodel, MarkReason, Packet, Qdisc, Sink, Spec, Stats};
use fathom_units::{Duration, Time};

enum Discipline<P> {
    Fifo(Fifo<P>),
    Codel(Codel<P>),
    FqCodel(FqCodel<P>),
}

/// A queue discipline built from a [`Spec`], with its counters.
pub struct AnyQdisc<P> {
    discipline: Discipline<P>,
    stats: Stats,
}

impl<P: Packet> AnyQdisc<P> {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        let discipline = match *spec {
            Spec::Fifo(params) => Discipline::Fifo(Fifo::new(params)),
            Spec::Codel(params) => Discipline::Codel(Codel::new(params)),
            Spec::FqCodel(params) => Discipline::FqCodel(FqCodel::new(params, seed)),
        };
        AnyQdisc { discipline, stats: Stats::default() }
    }
    /// What it has done since it was made.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}

/// Counts on the way to the host's sink.
struct Counting<'a, S> {
    stats: &'a mut Stats,
    sink: &'a mut S,
}

impl<P: Packet, S: Sink<P>> Sink<P> for Counting<'_, S> {
    fn dropped(&mut self, packet: P, reason: DropReason, sojourn: Duration, now: Time) {
        self.stats.on_drop(&packet, reason);
        self.sink.dropped(packet, reason, sojourn, now);
    }
    fn marked(&mut self, packet: &P, reason: MarkReason, now: Time) {
        self.stats.marked.add(packet.len());
        self.sink.marked(packet, reason, now);
    }
}

impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.stats.arrived.add(packet.len());
        let counting = &mut Counting { stats: &mut self.stats, sink };
        match &mut self.discipline {
            Discipline::Fifo(q) => q.enqueue(packet, now, counting),
            Discipline::Codel(q) => q.enqueue(packet, now, counting),
            Discipline::FqCodel(q) => q.enqueue(packet, now, counting),
        }
        self.stats.on_backlog(self.backlog());
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let counting = &mut Counting { stats: &mut self.stats, sink };
        let (packet, sojourn) = match &mut self.discipline {
            Discipline::Fifo(q) => q.dequeue(now, counting),
            Discipline::Codel(q) => q.dequeue(now, counting),
            Discipline::FqCodel(q) => q.dequeue(now, counting),
        }?;
        self.stats.on_sent(&packet, sojourn);
        Some((packet, sojourn))
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        match &self.discipline {
            Discipline::Fifo(q) => q.next_ready(now),
            Discipline::Codel(q) => q.next_ready(now),
            Discipline::FqCodel(q) => q.next_ready(now),
        }
    }
    fn backlog(&self) -> Backlog {
        match &self.discipline {
            Discipline::Fifo(q) => q.backlog(),
            Discipline::Codel(q) => q.backlog(),
            Discipline::FqCodel(q) => q.backlog(),
        }
    }
}
