//! When a unit's datagrams leave, and how many: as the simulator's source has it.
use fathom_link::Serializer;
use fathom_scenario::{CALL_EVERY, CALL_PACKET, Spacing, WorkKind};
use fathom_units::{Bytes, Duration, Rng, Time};

/// Headers of IPv4 and UDP.
pub(crate) const UDP_HEADERS: u16 = 28;

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

/// Of one sender. It goes by what was due, not by when its thread ran.
pub(crate) struct Timetable {
    beat: Beat,
    /// IP length of each datagram.
    pub(crate) size: u16,
    key_frames: Option<KeyFrames>,
    next: Time,
}

impl Timetable {
    /// For a work of datagrams that begins at `start`; `None` for another.
    pub(crate) fn new(kind: WorkKind, start: Time) -> Option<Timetable> {
        let evenly = |rate| Beat::Rate(Serializer::new(Some(rate)));
        let (beat, size) = match kind {
            WorkKind::Call => (Beat::Every(CALL_EVERY), CALL_PACKET),
            WorkKind::Game { size, interval } => (Beat::Every(interval), size),
            WorkKind::Camera { rate, size, .. } => (evenly(rate), size),
            WorkKind::Datagrams { rate, size, spacing: Spacing::Even, .. } => (evenly(rate), size),
            WorkKind::Datagrams { rate, size, .. } => {
                (Beat::Poisson(rate.serialization_time(Bytes(u64::from(size)))), size)
            }
            _ => return None,
        };
        let key_frames = match kind {
            WorkKind::Camera { key_frame, every, .. } => {
                let payload = u64::from(size.saturating_sub(UDP_HEADERS).max(1));
                Some(KeyFrames { packets: key_frame.get().div_ceil(payload), every, next: start })
            }
            _ => None,
        };
        Some(Timetable { beat, size, key_frames, next: start })
    }
    /// When something is due next.
    pub(crate) fn due(&self) -> Time {
        self.key_frames.as_ref().map_or(self.next, |key| key.next.min(self.next))
    }
    /// How many leave at the moment that is due; the next one is due then.
    pub(crate) fn take(&mut self, rng: &mut Rng) -> u64 {
        let (now, mut packets) = (self.due(), 0);
        if let Some(key) = self.key_frames.as_mut().filter(|key| key.next <= now) {
            packets += key.packets;
            key.next = now + key.every;
        }
        if self.next <= now {
            packets += 1;
            self.next = match &mut self.beat {
                Beat::Every(interval) => now + *interval,
                Beat::Rate(serializer) => serializer.send(Bytes(u64::from(self.size)), now),
                Beat::Poisson(mean) => now + Duration::from_nanos(rng.exponential(mean.as_nanos())),
            };
        }
        packets
    }
}
