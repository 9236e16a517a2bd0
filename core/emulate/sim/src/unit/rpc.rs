//! Requests and responses on a persistent connection.
use super::{Channel, Me};
use crate::world::{Profile, World};
use fathom_run::Metric;
use fathom_units::{Direction, Duration, Time};

/// One client.
pub(crate) struct Rpc {
    pub(crate) profile: Profile,
    pub(crate) request: u64,
    pub(crate) response: u64,
    pub(crate) interval: Duration,
    pub(crate) channel: Option<Channel>,
    pub(crate) began: Time,
    pub(crate) timing: usize,
}

impl Rpc {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let profile = &self.profile;
        let channel = *self.channel.get_or_insert_with(|| Channel::open(profile, (me.unit, 0), world));
        self.began = world.now();
        self.timing = world.timings.begin(Metric::Request, me.workload, Direction::Down, self.began);
        channel.request(self.request, world);
    }
    pub(super) fn reached(&mut self, flow: u32, me: Me, world: &mut World) {
        let Some(channel) = self.channel else { return };
        if channel.reached(flow, self.response, world) {
            world.timings.finish(self.timing, world.net.now);
            me.wake_at((self.began + self.interval).max(world.now()), world);
        }
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.channel.take().into_iter().for_each(|channel| channel.close(world));
    }
}
