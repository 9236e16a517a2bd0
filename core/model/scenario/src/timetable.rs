//! When the datagrams of calls, games, cameras and of what only fills a line leave, and how long they are: in either world.
use crate::{CALL_EVERY, CALL_PACKET, Spacing, WorkloadKind};
use fathom_link::Serializer;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Headers of IPv4 and UDP.
pub const UDP_HEADERS: u16 = 28;

/// When the next datagram leaves.
enum Beat {
    /// Evenly in time.
    Every(Duration),
    /// Evenly in IP bits.
    Rate(Serializer),
    /// At random, so far apart in the mean.
    Poisson(Duration),
}

/// Bursts among the datagrams.
struct KeyFrames {
    packets: u64,
    every: Duration,
    next: Time,
}

/// What leaves at one moment, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Datagrams of a key frame, each of [`Timetable::size`].
    pub key_frame: u64,
    /// IP length of the one whose turn it is.
    pub single: Option<u16>,
}

/// Of one sender.
pub struct Timetable {
    beat: Beat,
    size: u16,
    /// Lengths are of exponential distribution, `size` is their mean.
    draws_lengths: bool,
    key_frames: Option<KeyFrames>,
    next: Time,
}

impl Timetable {
    /// For a workload of datagrams of which the first leaves at `first`; `None` for another workload.
    pub fn new(kind: WorkloadKind, first: Time) -> Option<Timetable> {
        let (beat, size) = match kind {
            WorkloadKind::Call => (Beat::Every(CALL_EVERY), CALL_PACKET),
            WorkloadKind::Game { size, interval } => (Beat::Every(interval), size),
            WorkloadKind::Camera { rate, size, .. }
            | WorkloadKind::Datagrams { rate, size, spacing: Spacing::Even, .. } => {
                (Beat::Rate(Serializer::new(Some(rate))), size)
            }
            WorkloadKind::Datagrams { rate, size, spacing: Spacing::Poisson, .. } => {
                (Beat::Poisson(rate.serialization_time(Bytes(u64::from(size)))), size)
            }
            _ => return None,
        };
        let key_frames = match kind {
            WorkloadKind::Camera { key_frame, every, .. } => {
                let payload = u64::from(size.saturating_sub(UDP_HEADERS).max(1));
                Some(KeyFrames { packets: key_frame.get().div_ceil(payload), every, next: first })
            }
            _ => None,
        };
        let draws_lengths = matches!(kind, WorkloadKind::Datagrams { exponential_sizes: true, .. });
        Some(Timetable { beat, size, draws_lengths, key_frames, next: first })
    }
    /// IP length of each datagram, or their mean.
    pub const fn size(&self) -> u16 {
        self.size
    }
    /// When something is due next.
    pub fn due(&self) -> Time {
        self.key_frames.as_ref().map_or(self.next, |key| key.next.min(self.next))
    }
    /// What is due by `now`. What follows is due by what `now` is, so that who goes by [`Timetable::due`] is never late.
    pub fn take(&mut self, now: Time, rng: &mut Rng) -> Departure {
        let mut departure = Departure { key_frame: 0, single: None };
        if let Some(key) = self.key_frames.as_mut().filter(|key| key.next <= now) {
            departure.key_frame = key.packets;
            key.next = now + key.every;
        }
        if self.next <= now {
            let len = self.draw_length(rng);
            departure.single = Some(len);
            self.next = match &mut self.beat {
                Beat::Every(interval) => now + *interval,
                Beat::Rate(serializer) => serializer.send(Bytes(u64::from(len)), now),
                Beat::Poisson(mean) => now + Duration::from_nanos(rng.exponential(mean.as_nanos())),
            };
        }
        departure
    }
    fn draw_length(&self, rng: &mut Rng) -> u16 {
        if !self.draws_lengths {
            return self.size;
        }
        u16::try_from(rng.exponential(u64::from(self.size)).max(1)).unwrap_or(u16::MAX)
    }
}
