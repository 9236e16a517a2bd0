//! The medium between both directions of an 802.11 hop.
use super::contention::{Contention, Exchange};
use crate::bottleneck::Bottleneck;
use crate::router::{HopObserver, Router};
use fathom_qdisc::Packet;
use fathom_units::{Direction, PerDirection, Time};

/// Gives the medium to the sides of a hop as [`Contention`] decides.
pub(crate) struct WifiMedium {
    contention: Contention,
    /// When a queue that returned no packet will be ready.
    asleep: PerDirection<Option<Time>>,
}

enum Step {
    End,
    Wake(Direction),
    Access,
}

impl WifiMedium {
    pub(crate) const fn new(contention: Contention) -> Self {
        WifiMedium { contention, asleep: PerDirection { up: None, down: None } }
    }

    pub(crate) fn wake<P: Packet + Clone>(
        &mut self,
        sides: &PerDirection<Bottleneck<P>>,
        direction: Direction,
        now: Time,
    ) {
        self.asleep[direction] = None;
        self.demand(sides, direction, now);
    }

    /// Handles everything due by `now`.
    pub(crate) fn run<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        while let Some((time, step)) = self.next().filter(|(time, _)| *time <= now) {
            match step {
                Step::End => self.end(sides, time, observer),
                Step::Access => self.access(sides, time, observer),
                Step::Wake(side) => {
                    self.asleep[side] = None;
                    self.demand(sides, side, time);
                }
            }
        }
    }

    /// When `run` has something to do next.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.next().map(|(time, _)| time)
    }

    /// At equal times: first transmissions that end, then new contenders, then accesses.
    fn next(&self) -> Option<(Time, Step)> {
        let end = self.contention.exchange_end().map(|time| (time, Step::End));
        let wake = |side: Direction| self.asleep[side].map(|time| (time, Step::Wake(side)));
        let access = self.contention.next_access().map(|time| (time, Step::Access));
        [end, wake(Direction::Up), wake(Direction::Down), access]
            .into_iter()
            .flatten()
            .min_by_key(|(time, _)| *time)
    }

    fn access<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        let access = self.contention.access(now);
        let airtimes = PerDirection::from_fn(|side| {
            if !access.sides[side] {
                return None;
            }
            let airtime = sides[side].aggregate(now, &mut observer.at(side));
            self.asleep[side] = if airtime.is_none() { sides[side].ready_at() } else { None };
            if airtime.is_none() {
                self.contention.leave(side);
            }
            airtime
        });
        self.contention.begin(&access, airtimes, now);
    }

    fn end<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        let Some(Exchange { sides: sent, collided, .. }) = self.contention.end() else { return };
        for side in Direction::BOTH.into_iter().filter(|side| sent[*side]) {
            let acknowledged = sides[side].settle(collided, now, &mut observer.at(side));
            self.contention.settle(side.index(), acknowledged);
            self.contention.leave(side);
            self.demand(sides, side, now);
        }
    }

    /// Makes `side` contend if it has packets to send.
    fn demand<P: Packet + Clone>(&mut self, sides: &PerDirection<Bottleneck<P>>, side: Direction, now: Time) {
        if sides[side].must_repeat() || sides[side].queued().packets > 0 {
            self.contention.want(side, now);
        }
    }
}
