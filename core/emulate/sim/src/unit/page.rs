//! Web pages.
use super::{Channel, Me};
use crate::world::{Profile, World};
use alloc::vec::Vec;
use fathom_run::Metric;
use fathom_scenario::{PAGE_REQUEST, PageLoad, PagePlan, PageStep};
use fathom_units::{Direction, Time};

/// A user who loads one page after the other.
pub(crate) struct Page {
    pub(crate) profile: Profile,
    pub(crate) plan: PagePlan,
    pub(crate) channels: Vec<Channel>,
    pub(crate) load: PageLoad,
    pub(crate) began: Time,
    pub(crate) timing: usize,
}

impl Page {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        self.stop(world);
        self.began = world.now();
        self.timing = world.timings.begin(Metric::PageLoad, me.workload, Direction::Down, self.began);
        let count = self.plan.connections * self.plan.shards;
        self.load = PageLoad::new(&self.plan);
        for tag in 0..count {
            let channel = Channel::open(&self.profile, (me.unit, tag), world);
            self.channels.push(channel);
            channel.request(PAGE_REQUEST.get(), world);
        }
    }
    pub(super) fn reached(&mut self, flow: u32, me: Me, world: &mut World) {
        let tag = world.flows[flow as usize].tag as usize;
        let Some(channel) = self.channels.get(tag).copied() else { return };
        if !channel.reached(flow, self.plan.bytes.get(), world) {
            return;
        }
        match self.load.arrived(tag) {
            PageStep::Request => channel.request(PAGE_REQUEST.get(), world),
            PageStep::Wait => {}
            PageStep::Complete => self.done(me, world),
        }
    }
    fn done(&mut self, me: Me, world: &mut World) {
        world.timings.finish(self.timing, world.net.now);
        self.stop(world);
        if let Some(interval) = self.plan.interval {
            me.wake_at((self.began + interval).max(world.now()), world);
        }
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.channels.drain(..).for_each(|channel| channel.close(world));
    }
}
