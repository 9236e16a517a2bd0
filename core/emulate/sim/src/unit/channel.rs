//! A connection with requests in one direction and responses in the other.
use crate::world::{Profile, World};
use fathom_units::Direction;

/// Requests up and responses down, each with its own window, as in one TCP connection.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub(super) up: u32,
    down: u32,
}

impl Channel {
    /// Opens a connection from the user; both flows have the owner's unit and tag.
    pub(super) fn open(profile: &Profile, owner: (u32, u32), world: &mut World) -> Channel {
        let up = world.open(profile, Direction::Up, owner, false);
        let down = world.open(profile, Direction::Down, owner, true);
        Channel { up, down }
    }
    /// Called when `flow` reaches its goal: answers a request. True if the response has arrived.
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
