//! Datagrams: cameras, calls, games, and those that only fill a line.
use super::Me;
use crate::world::{Profile, UDP_HEADERS, World};
use fathom_link::{Direction, Serializer};
use fathom_metric::DatagramLog;
use fathom_units::{Bytes, Duration, Time};

/// When the next datagram leaves.
pub(crate) enum Beat {
    /// Evenly in time.
    Every(Duration),
    /// Evenly in IP bits.
    Rate(Serializer),
    /// At random, so far apart in the mean.
    Poisson(Duration),
}

/// How long a datagram is.
#[derive(Clone, Copy)]
pub(crate) enum Length {
    Fixed(u16),
    /// Of this mean.
    Exponential(u16),
}

/// What is wanted to be known of the datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Nothing of each.
    Fill,
    /// The delay of each.
    Camera,
    /// And the call's quality.
    Call,
    /// And the lateness of each.
    Game,
}

/// Bursts among the datagrams.
#[derive(Clone, Copy)]
pub(crate) struct KeyFrames {
    pub(crate) bytes: u64,
    pub(crate) every: Duration,
    pub(crate) next: Time,
}

/// One sender.
pub(crate) struct Source {
    pub(crate) profile: Profile,
    pub(crate) direction: Direction,
    pub(crate) beat: Beat,
    pub(crate) length: Length,
    pub(crate) key_frames: Option<KeyFrames>,
    pub(crate) purpose: Purpose,
    pub(crate) flow: Option<u32>,
    pub(crate) sent: u32,
    /// When the next evenly sent datagram leaves.
    pub(crate) next: Time,
    /// When each datagram was sent, and how long it took; for some purposes only.
    pub(crate) log: DatagramLog,
}

impl Source {
    pub(super) fn wake(&mut self, me: Me, world: &mut World) {
        let (profile, direction) = (&self.profile, self.direction);
        let flow = *self.flow.get_or_insert_with(|| world.open_datagrams(profile, direction, me.unit));
        let now = world.now();
        if let Some(key) = self.key_frames.filter(|key| key.next <= now) {
            self.burst(flow, key.bytes, world);
            self.key_frames = Some(KeyFrames { next: now + key.every, ..key });
        }
        if self.next <= now {
            let len = self.draw_len(world);
            self.send(flow, len, world);
            self.next = self.draw_next(len, world);
        }
        let key = self.key_frames.map_or(Time::MAX, |key| key.next);
        me.wake_at(self.next.min(key), world);
    }
    fn draw_len(&self, world: &mut World) -> u16 {
        match self.length {
            Length::Fixed(len) => len,
            Length::Exponential(mean) => {
                let len = world.exponential(u64::from(mean));
                u16::try_from(len.max(1)).unwrap_or(u16::MAX)
            }
        }
    }
    fn draw_next(&mut self, len: u16, world: &mut World) -> Time {
        let now = world.now();
        match &mut self.beat {
            Beat::Every(interval) => now + *interval,
            Beat::Rate(serializer) => serializer.send(Bytes(u64::from(len)), now),
            Beat::Poisson(mean) => {
                let mean = mean.as_nanos();
                now + Duration::from_nanos(world.exponential(mean))
            }
        }
    }
    fn burst(&mut self, flow: u32, bytes: u64, world: &mut World) {
        let Length::Fixed(size) = self.length else { return };
        let payload = u64::from(size.saturating_sub(UDP_HEADERS).max(1));
        for _ in 0..bytes.div_ceil(payload) {
            self.send(flow, size, world);
        }
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
