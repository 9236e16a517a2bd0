//! Samples: probes with their outcomes.
use crate::Code;
use crate::grid::nearest;
use fathom_units::{Duration, WallTime};

/// Nanoseconds per millisecond, the resolution of stored times.
const NANOS_PER_MILLI: u64 = 1_000_000;

/// The outcome of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Answered within its timeout.
    Answered(Duration),
    /// Answered after its timeout: neither lost nor on time.
    Late(Duration),
    /// Not answered so far (RFC 7680).
    Lost,
    /// Not sent (no address, no route, send error): says nothing about the path.
    Failed,
}

/// A probe and its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Send time.
    pub at: WallTime,
    /// The outcome.
    pub outcome: Outcome,
}

/// A measured level, such as a rate or a backlog.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// Time of the reading.
    pub at: WallTime,
    /// The value in the unit of the series; `None` if it could not be read.
    pub value: Option<f64>,
}

/// The unit of the values of a series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Delays, in seconds.
    Seconds,
    /// Rates, in bits per second.
    BitsPerSecond,
    /// Amounts, in bytes.
    Bytes,
}

/// A stored sample: time to the millisecond, value to its bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Milliseconds since 1970-01-01 UTC; see [`crate::Grid`] for the rounding.
    pub at_ms: u64,
    /// The outcome.
    pub code: Code,
}

impl Unit {
    /// The name in a store.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::BitsPerSecond => "bits_per_second",
            Unit::Bytes => "bytes",
        }
    }
    /// The unit with this name, as from [`Unit::word`].
    pub fn from_word(word: &str) -> Option<Unit> {
        [Unit::Seconds, Unit::BitsPerSecond, Unit::Bytes].into_iter().find(|u| u.word() == word)
    }
}

impl Stored {
    /// A sample that is not on a grid: its time is rounded to the nearest millisecond.
    pub fn of(sample: Sample) -> Stored {
        Stored { at_ms: nearest(sample.at), code: Code::of(sample.outcome) }
    }
    /// The time.
    pub const fn at(self) -> WallTime {
        WallTime(self.at_ms.saturating_mul(NANOS_PER_MILLI))
    }
    /// The sample, for a series of delays.
    pub fn sample(self) -> Sample {
        Sample { at: self.at(), outcome: self.code.outcome() }
    }
    /// The level, for a series of levels.
    pub fn level(self) -> Level {
        Level { at: self.at(), value: self.code.value() }
    }
}
