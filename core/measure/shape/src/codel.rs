//! Parameters of `CoDel` for a line, where the defaults do not suit it.
use crate::FULL_FRAME;
use fathom_units::{Duration, Rate};

/// Parameters of `fq_codel`; `None` is its default.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Codel {
    /// Acceptable standing delay; by default 5 ms.
    pub target: Option<Duration>,
    /// Time in which a sender reacts; by default 100 ms.
    pub interval: Option<Duration>,
    /// Bytes that a flow sends in its turn; by default a full packet.
    pub quantum: Option<u32>,
}

/// The parameters at `rate`, for paths with this round-trip time.
#[must_use]
pub fn codel(rate: Rate, round_trip: Option<Duration>) -> Codel {
    // Otherwise a slow link waits for a round of 10 packets.
    let quantum = Some(300).filter(|_| rate < Rate::from_bits_per_second(100_000_000));
    // RFC 8290 section 5.2.2: at least the transmission time of one packet.
    let target = rate.serialization_time(FULL_FRAME) * 3 / 2;
    // Section 4.3: the interval is a round trip, and the target at least a twentieth of it.
    let target = target.max(round_trip.map_or(Duration::ZERO, |time| time / 20));
    let target = (target > Duration::from_millis(5)).then_some(target);
    let interval = round_trip.or_else(|| target.map(|target| Duration::from_millis(95) + target));
    Codel { target, interval, quantum }
}
