//! Departure times and sizes of datagrams of calls, games, cameras and constant or random streams.
use crate::{CALL_EVERY, CALL_PACKET, Spacing, WorkloadKind};
use fathom_link::Serializer;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Size of the IPv4 and UDP headers.
pub const UDP_HEADERS: u16 = 28;

/// Spacing of datagrams.
enum Beat {
    /// Constant interval.
    Every(Duration),
    /// Constant rate in IP bits per second.
    Rate(Serializer),
    /// Exponentially distributed intervals with this mean.
    Poisson(Duration),
}

/// Periodic bursts in addition to single datagrams.
struct KeyFrames {
    packets: u64,
    every: Duration,
    next: Time,
}

/// Datagrams that leave at the same time; the key frame goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Number of datagrams in a key frame, each of [`Timetable::size`].
    pub key_frame: u64,
    /// IP length of the single datagram, if one is due.
    pub single: Option<u16>,
}

/// Timetable of one sender.
pub struct Timetable {
    beat: Beat,
    size: u16,
    /// Lengths are exponentially distributed with mean `size`.
    draws_lengths: bool,
    key_frames: Option<KeyFrames>,
    next: Time,
}

impl Timetable {
    /// Timetable of a datagram workload from `first` on; `None` for other workloads.
    pub fn new(kind: WorkloadKind, first: Time) -> Option<Timetable> {
        let (beat, size) = match kind {
            WorkloadKind::Call => (Beat::Every(CALL_EVERY), CALL_PACKET),
            WorkloadKind::Game { size, interval, .. } => (Beat::Every(interval), size),
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
    /// IP length of each datagram, or the mean length.
    pub const fn size(&self) -> u16 {
        self.size
    }
    /// Time of the next departure.
    pub fn due(&self) -> Time {
        self.key_frames.as_ref().map_or(self.next, |key| key.next.min(self.next))
    }
    /// Returns the datagrams due by `now`. The next interval starts at `now`, so a caller that
    /// follows [`Timetable::due`] is never late.
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
