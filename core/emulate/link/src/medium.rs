//! Half duplex: one medium for both directions of a hop. While one sends, the other waits.
use crate::bottleneck::Bottleneck;
use crate::hop::Watch;
use crate::line::Router;
use fathom_qdisc::Packet;
use fathom_units::Time;

/// Who has the medium, and until when. Of two that wait for it the one has it next that did not have it last.
#[derive(Default)]
pub(crate) struct Medium {
    owner: usize,
    clear: Time,
    /// Until then each side's queue gives nothing.
    asleep: [Time; 2],
}

impl Medium {
    /// `packet` arrives at the queue of `side`.
    pub(crate) fn arrive<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        (side, packet): (usize, P),
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        self.run(sides, now, watch);
        sides[side].enqueue(packet, now, &mut watch.at(side));
        self.asleep[side] = Time::ZERO;
        self.plan(sides, now);
        self.run(sides, now, watch);
    }

    /// Does what is due at or before `now`.
    pub(crate) fn run<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        loop {
            let ends = first(sides.each_ref().map(Bottleneck::sent_at), self.owner);
            let begins = first(sides.each_ref().map(Bottleneck::ready_at), 1 - self.owner);
            let time = match (ends, begins) {
                (Some((end, side)), begin) if end <= now && begin.is_none_or(|(at, _)| end <= at) => {
                    sides[side].finish(&mut watch.at(side));
                    end
                }
                (_, Some((at, side))) if at <= now => {
                    self.begin(sides, side, at, watch);
                    at
                }
                _ => return,
            };
            self.plan(sides, time);
        }
    }

    fn begin<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        side: usize,
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        if sides[side].begin(now, &mut watch.at(side)) {
            (self.owner, self.clear) = (side, sides[side].clear());
        } else {
            self.asleep[side] = sides[side].ready_at().unwrap_or(Time::MAX);
        }
    }

    /// When each side that waits may send. The one that has the medium may go on within what it has taken of it.
    fn plan<P: Packet + Clone>(&self, sides: &mut [Bottleneck<P>; 2], now: Time) {
        for (side, bottleneck) in sides.iter_mut().enumerate() {
            let clear = if side == self.owner { Time::ZERO } else { self.clear };
            bottleneck.plan(now, clear.max(self.asleep[side]));
        }
    }
}

/// The earlier of two times and its side; of the same times that of the side `preferred`.
fn first(times: [Option<Time>; 2], preferred: usize) -> Option<(Time, usize)> {
    let at = |side: usize| times[side].map(|time| (time, side));
    match (at(preferred), at(1 - preferred)) {
        (Some(one), Some(other)) if other.0 < one.0 => Some(other),
        (one, other) => one.or(other),
    }
}
