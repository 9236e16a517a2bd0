//! Both directions of an 802.11 hop and the medium between them.
use super::contention::Contention;
use crate::bottleneck::Bottleneck;
use crate::hop::Watch;
use crate::line::Router;
use fathom_qdisc::Packet;
use fathom_units::{Duration, Time};

/// Gives the medium to the sides of a hop as [`Contention`] decides.
pub(crate) struct WifiMedium {
    contention: Contention,
    /// When a queue that gave nothing will give something.
    asleep: [Option<Time>; 2],
}

/// What happens next.
enum Step {
    End,
    Wake(usize),
    Access,
}

impl WifiMedium {
    pub(crate) const fn new(contention: Contention) -> Self {
        WifiMedium { contention, asleep: [None; 2] }
    }

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
        self.asleep[side] = None;
        self.demand(sides, side, now);
        self.run(sides, now, watch);
    }

    /// Does what is due at or before `now`.
    pub(crate) fn run<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        while let Some((time, step)) = self.next().filter(|(time, _)| *time <= now) {
            match step {
                Step::End => self.end(sides, time, watch),
                Step::Access => self.access(sides, time, watch),
                Step::Wake(side) => {
                    self.asleep[side] = None;
                    self.demand(sides, side, time);
                }
            }
        }
    }

    /// When `run` next has something to do.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.next().map(|(time, _)| time)
    }

    /// Of the same times the first: what is over, what begins to wait, who sends.
    fn next(&self) -> Option<(Time, Step)> {
        let end = self.contention.exchange_end().map(|time| (time, Step::End));
        let wake = |side: usize| self.asleep[side].map(|time| (time, Step::Wake(side)));
        let access = self.contention.next_access().map(|time| (time, Step::Access));
        [end, wake(0), wake(1), access].into_iter().flatten().min_by_key(|(time, _)| *time)
    }

    fn access<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        let access = self.contention.access(now);
        let mut airtimes: [Option<Duration>; 2] = [None; 2];
        for (side, airtime) in airtimes.iter_mut().enumerate().filter(|(side, _)| access.sides[*side]) {
            *airtime = sides[side].aggregate(now, &mut watch.at(side));
            self.asleep[side] = if airtime.is_none() { sides[side].ready_at() } else { None };
            if airtime.is_none() {
                self.contention.leave(side);
            }
        }
        self.contention.begin(&access, airtimes, now);
    }

    fn end<P: Packet + Clone>(
        &mut self,
        sides: &mut [Bottleneck<P>; 2],
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) {
        let Some((sent, collided)) = self.contention.end() else { return };
        for side in (0..2).filter(|side| sent[*side]) {
            let acknowledged = sides[side].settle(collided, now, &mut watch.at(side));
            self.contention.settle(side, acknowledged);
            self.contention.leave(side);
            self.demand(sides, side, now);
        }
    }

    /// `side` contends if it has something to send.
    fn demand<P: Packet + Clone>(&mut self, sides: &[Bottleneck<P>; 2], side: usize, now: Time) {
        if sides[side].must_repeat() || sides[side].queued().packets > 0 {
            self.contention.want(side, now);
        }
    }
}
