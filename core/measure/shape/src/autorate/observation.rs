//! Input of the controller at each tick.
use crate::fix::ShaperCounters;
use fathom_units::{Bytes, Duration, PerDirection, Time};

/// Hours since Monday 00:00 local time, 0 to 167.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HourOfWeek(u8);

pub(crate) const HOURS: usize = 168;

impl HourOfWeek {
    /// The hour that is `hours` after any Monday 00:00.
    pub const fn new(hours: u64) -> Self {
        HourOfWeek((hours % HOURS as u64) as u8)
    }
    /// The number, 0 to 167.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// State of the shaper's queue in one direction. Sent bytes, drops and marks are counted since the
/// queue was created; a counter that decreases has restarted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct QueueReading {
    /// Bytes sent, with the overhead that the shaper counts.
    pub sent: Bytes,
    /// Bytes queued.
    pub backlog: Bytes,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked with CE.
    pub marks: u64,
}

impl QueueReading {
    /// Converts a shaper's counters. It adds `added_bytes` to each packet, but not to its counter.
    pub fn new(counters: &ShaperCounters, added_bytes: i64) -> Self {
        let packets = i64::try_from(counters.sent_packets).unwrap_or(i64::MAX);
        QueueReading {
            sent: Bytes(counters.sent_bytes.saturating_add_signed(added_bytes.saturating_mul(packets))),
            backlog: Bytes(counters.backlog_bytes),
            drops: counters.dropped_packets,
            marks: counters.marked_packets,
        }
    }
}

/// A delay from a reflector: a host that responds to probes, or an end of passive flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelaySample {
    /// Fixed number of the reflector. At most [`super::REFLECTORS`] are tracked.
    pub reflector: u16,
    /// The delay.
    pub delay: Delay,
}

/// Delay of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delay {
    /// Both one-way delays in ns, with an unknown clock offset: only changes matter.
    OneWay(PerDirection<i64>),
    /// Round-trip time. Less informative because it does not show the direction of a queue.
    RoundTrip(Duration),
}

/// Input of one tick.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation<'a> {
    /// Time when the queues were read.
    pub at: Time,
    /// Local hour of the week.
    pub hour: HourOfWeek,
    /// State of the shaper queues.
    pub queues: PerDirection<QueueReading>,
    /// Delays since the last tick, the latest last; empty if no reflector responded.
    pub delays: &'a [DelaySample],
}
