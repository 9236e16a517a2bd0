//! What the host of a line provides: routing decisions and an observer.
use crate::event::{Event, Observer};
use fathom_units::{Direction, Time};

/// A bottleneck of a line or, in [`Router::arrive`], a router and the packet's direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinePosition {
    /// 0 is the hop closest to the user.
    pub hop: usize,
    /// Direction of travel.
    pub direction: Direction,
}

/// What a router does with a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<P> {
    /// Forwards it.
    Forward,
    /// Discards it and sends this in the reverse direction, such as an ICMP Time Exceeded.
    Answer(P),
    /// Discards it.
    Discard,
    /// Removes it from the line: it leaves as if the line ended here.
    Leave,
}

/// Routing decisions, and an observer of events.
pub trait Router<P> {
    /// `packet` reaches the router at `position.hop`. May modify it (TTL).
    fn arrive(&mut self, position: LinePosition, packet: &mut P, now: Time) -> Verdict<P>;
    /// `event` happened in the bottleneck at `position`. The default does nothing.
    fn event(&mut self, position: LinePosition, event: Event<'_, P>, now: Time) {
        let _ = (position, event, now);
    }
}

/// Forwards everything and ignores events.
impl<P> Router<P> for () {
    fn arrive(&mut self, _: LinePosition, _: &mut P, _: Time) -> Verdict<P> {
        Verdict::Forward
    }
}

/// Observes the bottlenecks of one hop for a router.
pub(crate) struct HopObserver<'a, R> {
    pub(crate) hop: usize,
    pub(crate) router: &'a mut R,
}

impl<R> HopObserver<'_, R> {
    pub(crate) fn at(&mut self, direction: Direction) -> BottleneckObserver<'_, R> {
        BottleneckObserver { position: LinePosition { hop: self.hop, direction }, router: self.router }
    }
}

pub(crate) struct BottleneckObserver<'a, R> {
    position: LinePosition,
    router: &'a mut R,
}

impl<P, R: Router<P>> Observer<P> for BottleneckObserver<'_, R> {
    fn event(&mut self, event: Event<'_, P>, now: Time) {
        self.router.event(self.position, event, now);
    }
}
