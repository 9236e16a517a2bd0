//! Units: the state machines of workloads, one per transfer, peer, page, client or call.
mod bulk;
mod channel;
mod incast;
mod page;
mod rpc;
mod segments;
mod source;
mod viewer;

pub(crate) use bulk::{Peer, Transfer};
pub(crate) use channel::Channel;
pub(crate) use incast::Incast;
pub(crate) use page::Page;
pub(crate) use rpc::Rpc;
pub(crate) use segments::Segments;
pub(crate) use source::{Purpose, Source};
pub(crate) use viewer::Viewer;

use crate::agenda::Wake;
use crate::world::{Notice, World};
use fathom_units::Time;

/// Identity of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Me {
    /// Number of the unit.
    pub(crate) unit: u32,
    /// Number of its workload.
    pub(crate) workload: u32,
}

impl Me {
    /// Wakes the unit at `at`.
    pub(crate) fn wake_at(self, at: Time, world: &mut World) {
        world.net.agenda.push(at, Wake::Unit(self.unit));
    }
}

/// A unit. It is woken when its workload starts, and stopped once.
pub(crate) enum Unit {
    Transfer(Transfer),
    Peer(Peer),
    Page(Page),
    Rpc(Rpc),
    Incast(Incast),
    Segments(Segments),
    Viewer(Viewer),
    Source(Source),
}

impl Unit {
    pub(crate) fn wake(&mut self, me: Me, world: &mut World) {
        match self {
            Unit::Transfer(unit) => unit.wake(me, world),
            Unit::Peer(unit) => unit.wake(me, world),
            Unit::Page(unit) => unit.wake(me, world),
            Unit::Rpc(unit) => unit.wake(me, world),
            Unit::Incast(unit) => unit.wake(me, world),
            Unit::Segments(unit) => unit.wake(me, world),
            Unit::Viewer(unit) => unit.wake(me, world),
            Unit::Source(unit) => unit.wake(me, world),
        }
    }
    pub(crate) fn notice(&mut self, notice: Notice, me: Me, world: &mut World) {
        match (self, notice) {
            (Unit::Transfer(unit), Notice::Reached { .. }) => unit.reached(world),
            (Unit::Page(unit), Notice::Reached { flow }) => unit.reached(flow, me, world),
            (Unit::Rpc(unit), Notice::Reached { flow }) => unit.reached(flow, me, world),
            (Unit::Incast(unit), Notice::Reached { .. }) => unit.reached(me, world),
            (Unit::Segments(unit), Notice::Reached { flow }) => unit.reached(flow, world),
            (Unit::Viewer(unit), Notice::Reached { flow }) => unit.reached(flow, me, world),
            (Unit::Source(unit), Notice::Arrived { number, delay, .. }) => unit.arrived(number, delay),
            _ => {}
        }
    }
    /// Ends its flows.
    pub(crate) fn stop(&mut self, world: &mut World) {
        match self {
            Unit::Transfer(unit) => unit.stop(world),
            Unit::Peer(unit) => unit.stop(world),
            Unit::Page(unit) => unit.stop(world),
            Unit::Rpc(unit) => unit.stop(world),
            Unit::Incast(unit) => unit.stop(world),
            Unit::Segments(unit) => unit.stop(world),
            Unit::Viewer(unit) => unit.stop(world),
            // Datagrams in flight still arrive.
            Unit::Source(_) => {}
        }
    }
}
