//! Adaptive video over TCP.
use super::{Channel, Me};
use crate::world::{Profile, World};
use fathom_scenario::{PAGE_REQUEST, Playback};

/// One viewer.
pub(crate) struct Viewer {
    pub(crate) profile: Profile,
    pub(crate) playback: Playback,
    pub(crate) channel: Option<Channel>,
    /// Size of the requested segment.
    pub(crate) segment_bytes: u64,
    /// Its number within the workload, from 0.
    pub(crate) nth: u32,
}

impl Viewer {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let profile = &self.profile;
        let channel = *self.channel.get_or_insert_with(|| Channel::open(profile, (me.unit, 0), world));
        self.segment_bytes = self.playback.request(world.now()).get();
        channel.request(PAGE_REQUEST.get(), world);
    }
    pub(super) fn reached(&mut self, flow: u32, me: Me, world: &mut World) {
        if self.channel.is_some_and(|channel| channel.reached(flow, self.segment_bytes, world)) {
            self.playback.arrived(world.now());
            me.wake_at(self.playback.due().max(world.now()), world);
        }
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.channel.take().into_iter().for_each(|channel| channel.close(world));
    }
}
