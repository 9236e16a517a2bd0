//! Incast: many senders at the same time.
use super::Me;
use crate::world::{Profile, World};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::Metric;
use fathom_units::{Direction, Duration, Time};

/// Rounds with one block per sender. The first round includes the handshakes.
pub(crate) struct Incast {
    /// One per sender.
    pub(crate) profiles: Vec<Profile>,
    pub(crate) direction: Direction,
    pub(crate) block: u64,
    pub(crate) interval: Duration,
    /// Each sender starts with a random delay of at most this.
    pub(crate) spread: Duration,
    pub(crate) flows: Vec<u32>,
    /// Senders of this round that have not started, with their start times, in order.
    pub(crate) delayed: VecDeque<(Time, u32)>,
    /// Number of senders whose block has not arrived.
    pub(crate) waiting: usize,
    pub(crate) began: Time,
    pub(crate) timing: usize,
}

impl Incast {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        if self.delayed.is_empty() {
            self.begin(me, world);
        }
        while let Some((at, flow)) = self.delayed.front().copied() {
            if at > world.now() {
                return me.wake_at(at, world);
            }
            self.delayed.pop_front();
            world.write_to_the_end(flow, self.block);
        }
    }
    /// Begins a round.
    fn begin(&mut self, me: Me, world: &mut World) {
        if self.flows.is_empty() {
            let open = |profile| world.open(profile, self.direction, (me.unit, 0), false);
            self.flows = self.profiles.iter().map(open).collect();
        }
        self.began = world.now();
        self.timing = world.timings.begin(Metric::Request, me.workload, self.direction, self.began);
        self.waiting = self.flows.len();
        let spread = self.spread.as_nanos();
        let mut late = || Duration::from_nanos(if spread == 0 { 0 } else { world.rng.below(spread) });
        let at = |flow: &u32| (self.began + late(), *flow);
        let mut delayed: Vec<(Time, u32)> = self.flows.iter().map(at).collect();
        delayed.sort_unstable();
        self.delayed = delayed.into();
    }
    pub(super) fn reached(&mut self, me: Me, world: &mut World) {
        self.waiting -= 1;
        if self.waiting == 0 {
            world.timings.finish(self.timing, world.net.now);
            me.wake_at((self.began + self.interval).max(world.now()), world);
        }
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.flows.iter().for_each(|flow| world.close(*flow));
    }
}
