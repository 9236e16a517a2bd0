//! Half duplex: one medium for both directions of a hop. While one sends, the other waits.
use crate::bottleneck::Bottleneck;
use crate::router::{HopObserver, Router};
use fathom_qdisc::Packet;
use fathom_units::{Direction, PerDirection, Time};

/// Which direction owns the medium, and until when. If both wait, they alternate.
pub(crate) struct Medium {
    owner: Direction,
    clear: Time,
    /// Until then the queue of each direction returns no packet.
    asleep: PerDirection<Time>,
}

impl Medium {
    pub(crate) const fn new() -> Self {
        let asleep = PerDirection { up: Time::ZERO, down: Time::ZERO };
        Medium { owner: Direction::Up, clear: Time::ZERO, asleep }
    }

    pub(crate) fn wake<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        direction: Direction,
        now: Time,
    ) {
        self.asleep[direction] = Time::ZERO;
        self.plan(sides, now);
    }

    /// Handles everything due by `now`.
    pub(crate) fn run<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        loop {
            let ends = first(sides.as_ref().map(Bottleneck::sent_at), self.owner);
            let begins = first(sides.as_ref().map(Bottleneck::ready_at), self.owner.reverse());
            let time = match (ends, begins) {
                (Some((end, side)), begin) if end <= now && begin.is_none_or(|(at, _)| end <= at) => {
                    sides[side].finish(&mut observer.at(side));
                    end
                }
                (_, Some((at, side))) if at <= now => {
                    self.begin(sides, side, at, observer);
                    at
                }
                _ => return,
            };
            self.plan(sides, time);
        }
    }

    fn begin<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        side: Direction,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        if sides[side].begin(now, &mut observer.at(side)) {
            (self.owner, self.clear) = (side, sides[side].clear());
        } else {
            self.asleep[side] = sides[side].ready_at().unwrap_or(Time::MAX);
        }
    }

    /// Plans when each direction may send. The owner may continue in the time that it has reserved.
    fn plan<P: Packet + Clone>(&self, sides: &mut PerDirection<Bottleneck<P>>, now: Time) {
        for (side, bottleneck) in sides.iter_mut() {
            let clear = if side == self.owner { Time::ZERO } else { self.clear };
            bottleneck.plan(now, clear.max(self.asleep[side]));
        }
    }
}

/// The earlier time and its direction; at equal times `preferred`.
fn first(times: PerDirection<Option<Time>>, preferred: Direction) -> Option<(Time, Direction)> {
    let at = |side: Direction| times[side].map(|time| (time, side));
    match (at(preferred), at(preferred.reverse())) {
        (Some(one), Some(other)) if other.0 < one.0 => Some(other),
        (one, other) => one.or(other),
    }
}
