//! A connection with requests one way and answers the other.
use crate::world::{Profile, World};
use fathom_units::Direction;

/// Requests go up and answers down, each with a window of its own, as on one TCP connection.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub(super) up: u32,
    down: u32,
}

impl Channel {
    /// A connection of `unit`, opened by the user; both its flows are called `tag`.
    pub(super) fn open(profile: &Profile, owner: (u32, u32), world: &mut World) -> Channel {
        let up = world.open(profile, Direction::Up, owner, false);
        let down = world.open(profile, Direction::Down, owner, true);
        Channel { up, down }
    }
    /// Sends a request, or what `flow` that reached its goal asks for: the answer. True when the answer is there.
    pub(super) fn reached(&self, flow: u32, response: u64, world: &mut World) -> bool {
        if flow == self.up {
            world.write_to_the_end(self.down, response);
        }
        flow == self.down
    }
    pub(super) fn request(&self, bytes: u64, world: &mut World) {
        world.write_to_the_end(self.up, bytes);
    }
    pub(super) fn close(&self, world: &mut World) {
        world.close(self.up);
        world.close(self.down);
    }
}
