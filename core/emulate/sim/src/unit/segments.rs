//! Segmented video over TCP.
use super::Me;
use crate::world::{Profile, World};
use alloc::collections::VecDeque;
use fathom_run::Metric;
use fathom_units::{Direction, Duration, Rate};

/// One viewer. Segments are sent on schedule, even if the previous one has not arrived.
pub(crate) struct Segments {
    pub(crate) profile: Profile,
    pub(crate) direction: Direction,
    pub(crate) rate: Rate,
    pub(crate) every: Duration,
    pub(crate) flow: Option<u32>,
    /// End and timing of each segment in flight.
    pub(crate) under_way: VecDeque<(u64, usize)>,
}

impl Segments {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let (profile, direction) = (&self.profile, self.direction);
        let flow = *self.flow.get_or_insert_with(|| world.open(profile, direction, (me.unit, 0), false));
        let bytes = self.rate.bytes_in(self.every).get().max(1);
        let timing = world.timings.begin(Metric::Request, me.workload, direction, world.net.now);
        let entry = &mut world.flows[flow as usize];
        let end = entry.written + bytes;
        if self.under_way.is_empty() {
            entry.goal = end;
        }
        self.under_way.push_back((end, timing));
        world.write(flow, bytes);
        me.wake_at(world.now() + self.every, world);
    }
    pub(super) fn reached(&mut self, flow: u32, world: &mut World) {
        let entry = &mut world.flows[flow as usize];
        // A retransmission may complete several at once.
        while let Some((_, timing)) =
            self.under_way.front().filter(|(end, _)| *end <= entry.total.delivered_bytes)
        {
            world.timings.finish(*timing, world.net.now);
            self.under_way.pop_front();
        }
        entry.goal = self.under_way.front().map_or(u64::MAX, |(end, _)| *end);
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.flow.take().into_iter().for_each(|flow| world.close(flow));
    }
}
