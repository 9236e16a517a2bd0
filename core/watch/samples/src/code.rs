//! Encodes an outcome in 16 bits.
use crate::Outcome;
use crate::scale::{self, HIGHEST, LOWEST};
use fathom_units::Duration;

const LOST: u16 = 0;
const FAILED: u16 = 1;
/// A delay or level of zero, which no bucket of a logarithmic scale holds.
const ZERO: u16 = 2;
const LATE_ZERO: u16 = 3;
/// Code of the lowest bucket. With this value the buckets from 3.6 ms to 0.9 s share their high
/// byte, so for typical delays one of the two byte planes is nearly constant.
const FIRST: u16 = 4;
const BUCKETS: u16 = (HIGHEST - LOWEST + 1) as u16;
const FIRST_LATE: u16 = FIRST + BUCKETS;
const END: u16 = FIRST_LATE + BUCKETS;

/// Outcome of a sample: lost, failed, or the bucket of its value and whether it was late.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Code(u16);

impl Code {
    /// Lost.
    pub const LOST: Code = Code(LOST);
    /// Not sent, or not readable.
    pub const FAILED: Code = Code(FAILED);

    /// Encodes an outcome.
    pub fn of(outcome: Outcome) -> Code {
        match outcome {
            Outcome::Answered(rtt) => Code::level(rtt.as_secs_f64()),
            Outcome::Late(rtt) if rtt == Duration::ZERO => Code(LATE_ZERO),
            Outcome::Late(rtt) => Code(FIRST_LATE + offset(rtt.as_secs_f64())),
            Outcome::Lost => Code::LOST,
            Outcome::Failed => Code::FAILED,
        }
    }
    /// Encodes a level in its base unit. Negative values and NaN count as unreadable.
    pub fn level(value: f64) -> Code {
        if value.is_nan() || value < 0.0 {
            Code::FAILED
        } else if value == 0.0 {
            Code(ZERO)
        } else {
            Code(FIRST + offset(value))
        }
    }
    /// Decodes the outcome; the delay is the representative value of the bucket.
    pub fn outcome(self) -> Outcome {
        let Some(value) = self.value() else {
            return if self == Code::LOST { Outcome::Lost } else { Outcome::Failed };
        };
        let rtt = Duration::from_secs_f64(value);
        if self.is_late() { Outcome::Late(rtt) } else { Outcome::Answered(rtt) }
    }
    /// The value in the base unit of the series, if there is one.
    pub fn value(self) -> Option<f64> {
        match self.0 {
            LOST | FAILED => None,
            ZERO | LATE_ZERO => Some(0.0),
            _ => self.bucket().map(scale::value_of),
        }
    }
    /// The bucket of a positive value.
    pub fn bucket(self) -> Option<i32> {
        match self.0 {
            FIRST..FIRST_LATE => Some(i32::from(self.0 - FIRST) + LOWEST),
            FIRST_LATE..END => Some(i32::from(self.0 - FIRST_LATE) + LOWEST),
            _ => None,
        }
    }
    /// Whether the reply was late.
    pub fn is_late(self) -> bool {
        self.0 == LATE_ZERO || self.0 >= FIRST_LATE
    }
    /// The 16-bit number.
    pub const fn number(self) -> u16 {
        self.0
    }
    /// The code with this number, if it is valid.
    pub const fn from_number(number: u16) -> Option<Code> {
        if number < END { Some(Code(number)) } else { None }
    }
}

/// Distance of a value's bucket from the lowest bucket.
fn offset(value: f64) -> u16 {
    (scale::bucket_of(value) - LOWEST) as u16
}
