//! Transfers, and swarms of peers.
use super::Me;
use crate::world::{Profile, World};
use fathom_run::Metric;
use fathom_units::{Direction, Duration};

/// More than any run can send.
const ENDLESS: u64 = 1 << 60;

/// One flow with a number of bytes, or unlimited.
pub(crate) struct Transfer {
    pub(crate) profile: Profile,
    pub(crate) direction: Direction,
    pub(crate) bytes: Option<u64>,
    pub(crate) flow: Option<u32>,
    pub(crate) timing: Option<usize>,
}

impl Transfer {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let flow = world.open(&self.profile, self.direction, (me.unit, 0), false);
        self.flow = Some(flow);
        match self.bytes {
            None => world.write(flow, ENDLESS),
            Some(bytes) => {
                let now = world.now();
                self.timing =
                    Some(world.timings.begin(Metric::FlowCompletion, me.workload, self.direction, now));
                world.write_to_the_end(flow, bytes);
            }
        }
    }
    pub(super) fn reached(&mut self, world: &mut World) {
        if let Some(timing) = self.timing {
            world.timings.finish(timing, world.net.now);
        }
        self.stop(world);
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.flow.take().into_iter().for_each(|flow| world.close(flow));
    }
}

/// A slot of a swarm: a sequence of unlimited flows.
pub(crate) struct Peer {
    pub(crate) profile: Profile,
    pub(crate) direction: Direction,
    /// Mean lifetime of a flow.
    pub(crate) churn: Option<Duration>,
    pub(crate) flow: Option<u32>,
}

impl Peer {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        self.stop(world);
        let flow = world.open(&self.profile, self.direction, (me.unit, 0), false);
        self.flow = Some(flow);
        world.write(flow, ENDLESS);
        if let Some(mean) = self.churn {
            let life = Duration::from_nanos(world.exponential(mean.as_nanos()));
            me.wake_at(world.now() + life, world);
        }
    }
    pub(super) fn stop(&mut self, world: &mut World) {
        self.flow.take().into_iter().for_each(|flow| world.close(flow));
    }
}
