//! Datagrams: cameras, calls, games, and constant or random load.
use super::Me;
use crate::world::{Profile, World};
use fathom_run::DatagramLog;
use fathom_scenario::Timetable;
use fathom_units::{Direction, Duration};

/// What is recorded about the datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Nothing per datagram.
    Fill,
    /// The delay of each datagram.
    Camera,
    /// Delays and call quality.
    Call,
    /// Delays, lateness, and updates later than this.
    Game(Duration),
}

/// One sender.
pub(crate) struct Source {
    pub(crate) profile: Profile,
    pub(crate) direction: Direction,
    pub(crate) timetable: Timetable,
    pub(crate) purpose: Purpose,
    /// Its number within the workload, from 0; both directions of a call have the same number.
    pub(crate) nth: u32,
    pub(crate) flow: Option<u32>,
    pub(crate) sent: u32,
    /// When each datagram was sent, and its delay; not for [`Purpose::Fill`].
    pub(crate) log: DatagramLog,
}

impl Source {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let (profile, direction) = (&self.profile, self.direction);
        let flow = *self.flow.get_or_insert_with(|| world.open_datagrams(profile, direction, me.unit));
        let departure = self.timetable.take(world.now(), &mut world.rng);
        for _ in 0..departure.key_frame {
            self.send(flow, self.timetable.size(), world);
        }
        if let Some(len) = departure.single {
            self.send(flow, len, world);
        }
        me.wake_at(self.timetable.due(), world);
    }
    fn send(&mut self, flow: u32, len: u16, world: &mut World) {
        if self.purpose != Purpose::Fill {
            self.log.sent(world.now());
        }
        world.send_datagram(flow, self.sent, len);
        self.sent = self.sent.wrapping_add(1);
    }
    pub(super) fn arrived(&mut self, number: u32, delay: Duration) {
        self.log.arrived(number, delay);
    }
}
