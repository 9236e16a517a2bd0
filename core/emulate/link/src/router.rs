//! What a host of a line provides: decisions of routers, and an observer of events.
use crate::event::{Event, Observer};
use fathom_units::{Direction, Time};

/// A bottleneck of a line or, in [`Router::arrive`], a router and the direction in which the packet travels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinePosition {
    /// 0 is the hop next to the user.
    pub hop: usize,
    /// Direction of travel.
    pub direction: Direction,
}

/// What a router does with a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<P> {
    /// Sends it on.
    Forward,
    /// Discards it and sends this back where it came from, such as an ICMP Time Exceeded.
    Answer(P),
    /// Discards it.
    Discard,
    /// Takes it off the line: it comes out as if the line ended here.
    Leave,
}

/// The host's part: what routers do, and what is done with events.
pub trait Router<P> {
    /// `packet` reaches the router at `position.hop`, traveling in `position.direction`. May change it (TTL).
    fn arrive(&mut self, position: LinePosition, packet: &mut P, now: Time) -> Verdict<P>;
    /// `event` happened in the bottleneck at `position`. Does nothing unless overridden.
    fn event(&mut self, position: LinePosition, event: Event<'_, P>, now: Time) {
        let _ = (position, event, now);
    }
}

/// For a line that nobody observes: forwards everything.
impl<P> Router<P> for () {
    fn arrive(&mut self, _: LinePosition, _: &mut P, _: Time) -> Verdict<P> {
        Verdict::Forward
    }
}

/// A router as observer of one hop's bottlenecks.
pub(crate) struct HopObserver<'a, R> {
    pub(crate) hop: usize,
    pub(crate) router: &'a mut R,
}

impl<R> HopObserver<'_, R> {
    /// The observer of the bottleneck in `direction`.
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
