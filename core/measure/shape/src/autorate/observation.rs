//! Input of the controller at each tick.
use crate::fix::ShaperCounters;
use fathom_units::{Bytes, Duration, PerDirection, Time};

/// Hours since Monday 00:00 of the household's time, 0 to 167.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HourOfWeek(u8);

/// Hours of a week.
pub(crate) const HOURS: usize = 168;

impl HourOfWeek {
    /// `hours` since any Monday 00:00.
    pub const fn new(hours: u64) -> Self {
        HourOfWeek((hours % HOURS as u64) as u8)
    }
    /// 0 to 167.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// Our own queue of one direction. What has left it, the drops and the marks are counted since it was made; a counter that
/// falls is one that began again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct QueueReading {
    /// Has left it, link-layer overhead as the shaper counts it.
    pub sent: Bytes,
    /// Waits in it.
    pub backlog: Bytes,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked with CE.
    pub marks: u64,
}

impl QueueReading {
    /// The reading of a shaper's counters. In its rate the shaper counts `added_bytes` with each packet, which its counter of bytes leaves
    /// out.
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

/// A reflector's answer: a host that is asked, or a remote end whose round trips are seen in passing beyond our own queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelaySample {
    /// Which; any number that stays the same. At most [`super::REFLECTORS`] are followed at a time.
    pub reflector: u16,
    /// What it said.
    pub delay: Delay,
}

/// The delay of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delay {
    /// Each way by itself in ns, by two clocks whose offset nobody knows: only changes count, so that it may be negative.
    OneWay(PerDirection<i64>),
    /// Both ways together: less certain, as it does not say in which direction a queue is.
    RoundTrip(Duration),
}

/// All of a tick.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation<'a> {
    /// When the queues were read.
    pub at: Time,
    /// By the household's clock.
    pub hour: HourOfWeek,
    /// Our own queues.
    pub queues: PerDirection<QueueReading>,
    /// Answers that came since the last tick, the latest last; none is silence.
    pub delays: &'a [DelaySample],
}
