//! Web pages.
use super::{Channel, Me};
use crate::world::{Profile, World};
use alloc::vec::Vec;
use fathom_run::Metric;
use fathom_scenario::{PAGE_REQUEST, PagePlan};
use fathom_units::{Direction, Time};

/// A user who loads one page after the other.
pub(crate) struct Page {
    pub(crate) profile: Profile,
    pub(crate) plan: PagePlan,
    pub(crate) channels: Vec<Channel>,
    /// Objects that each connection has yet to fetch, including the current one.
    pub(crate) left: Vec<u32>,
    pub(crate) began: Time,
    pub(crate) timing: usize,
}

impl Page {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        self.stop(world);
        self.began = world.now();
        self.timing = world.timings.begin(Metric::PageLoad, me.workload, Direction::Down, self.began);
        let count = self.plan.connections * self.plan.shards;
        self.left = alloc::vec![self.plan.objects; count as usize];
        for tag in 0..count {
            let channel = Channel::open(&self.profile, (me.unit, tag), world);
            self.channels.push(channel);
            channel.request(PAGE_REQUEST.get(), world);
        }
    }
    pub(super) fn reached(&mut self, flow: u32, me: Me, world: &mut World) {
        let tag = world.flows[flow as usize].tag as usize;
        let (Some(channel), Some(objects)) = (self.channels.get(tag).copied(), self.left.get_mut(tag)) else {
            return;
        };
        if !channel.reached(flow, self.plan.bytes.get(), world) {
            return;
        }
        *objects -= 1;
        if *objects > 0 {
            channel.request(PAGE_REQUEST.get(), world);
        } else if self.left.iter().all(|left| *left == 0) {
            self.done(me, world);
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
