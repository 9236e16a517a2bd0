//! What one probe brought.
use crate::Code;
use crate::grid::nearest;
use fathom_units::{Duration, WallTime};

/// Nanoseconds of the resolution in which times are kept.
const NANOS_PER_MILLI: u64 = 1_000_000;

/// What became of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Answered within its timeout.
    Answered(Duration),
    /// Answered after its timeout: neither lost nor in time.
    Late(Duration),
    /// Not answered, as far as is known (RFC 7680).
    Lost,
    /// Not asked (no address, no route, not sent): says nothing about the path.
    Failed,
}

/// A probe and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// When it was sent.
    pub at: WallTime,
    /// What became of it.
    pub outcome: Outcome,
}

/// The height of something at a time: a rate, a backlog.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// When it was read.
    pub at: WallTime,
    /// In the unit of its series; `None` if it could not be read.
    pub value: Option<f64>,
}

/// What the values of a series are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Delays, in seconds.
    Seconds,
    /// Rates, in bits per second.
    BitsPerSecond,
    /// Amounts, in bytes.
    Bytes,
}

/// A sample as it is kept: time to the millisecond, value to its bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Milliseconds since 1970-01-01 UTC; see [`crate::Grid`] for how a time becomes one.
    pub at_ms: u64,
    /// What became of it.
    pub code: Code,
}

impl Unit {
    /// The word that a store keeps for it.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::BitsPerSecond => "bits_per_second",
            Unit::Bytes => "bytes",
        }
    }
    /// The unit that [`Unit::word`] gives this word for.
    pub fn from_word(word: &str) -> Option<Unit> {
        [Unit::Seconds, Unit::BitsPerSecond, Unit::Bytes].into_iter().find(|u| u.word() == word)
    }
}

impl Stored {
    /// A sample that is on no grid: its time is the nearest millisecond.
    pub fn of(sample: Sample) -> Stored {
        Stored { at_ms: nearest(sample.at), code: Code::of(sample.outcome) }
    }
    /// Its time.
    pub const fn at(self) -> WallTime {
        WallTime(self.at_ms.saturating_mul(NANOS_PER_MILLI))
    }
    /// The sample of a series of delays.
    pub fn sample(self) -> Sample {
        Sample { at: self.at(), outcome: self.code.outcome() }
    }
    /// The level of a series of levels.
    pub fn level(self) -> Level {
        Level { at: self.at(), value: self.code.value() }
    }
}
