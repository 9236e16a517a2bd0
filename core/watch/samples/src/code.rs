//! A sample's outcome as one number of 16 bits.
use crate::Outcome;
use crate::scale::{self, HIGHEST, LOWEST};
use fathom_units::Duration;

const LOST: u16 = 0;
const FAILED: u16 = 1;
/// An answer that took no time, or a level of zero: it is in no bucket of a logarithmic scale.
const ZERO: u16 = 2;
const LATE_ZERO: u16 = 3;
/// Code of the lowest bucket. The buckets of 3.6 ms to 0.9 s then share their upper byte, so that of two planes of bytes one is
/// nearly constant for the delays that paths have.
const FIRST: u16 = 4;
const BUCKETS: u16 = (HIGHEST - LOWEST + 1) as u16;
const FIRST_LATE: u16 = FIRST + BUCKETS;
const END: u16 = FIRST_LATE + BUCKETS;

/// A sample's outcome: lost, failed, or the bucket of its value and whether it was late.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Code(u16);

impl Code {
    /// Lost.
    pub const LOST: Code = Code(LOST);
    /// Not asked, or not to be read.
    pub const FAILED: Code = Code(FAILED);

    /// The code of an outcome.
    pub fn of(outcome: Outcome) -> Code {
        match outcome {
            Outcome::Answered(rtt) => Code::level(rtt.as_secs_f64()),
            Outcome::Late(rtt) if rtt == Duration::ZERO => Code(LATE_ZERO),
            Outcome::Late(rtt) => Code(FIRST_LATE + offset(rtt.as_secs_f64())),
            Outcome::Lost => Code::LOST,
            Outcome::Failed => Code::FAILED,
        }
    }
    /// The code of a level in its base unit; what is negative or no number could not be read.
    pub fn level(value: f64) -> Code {
        if value.is_nan() || value < 0.0 {
            Code::FAILED
        } else if value == 0.0 {
            Code(ZERO)
        } else {
            Code(FIRST + offset(value))
        }
    }
    /// The outcome, of which the delay is that of its bucket.
    pub fn outcome(self) -> Outcome {
        let Some(value) = self.value() else {
            return if self == Code::LOST { Outcome::Lost } else { Outcome::Failed };
        };
        let rtt = Duration::from_secs_f64(value);
        if self.is_late() { Outcome::Late(rtt) } else { Outcome::Answered(rtt) }
    }
    /// The value, in the base unit of its series; `None` without one.
    pub fn value(self) -> Option<f64> {
        match self.0 {
            LOST | FAILED => None,
            ZERO | LATE_ZERO => Some(0.0),
            _ => self.bucket().map(scale::value_of),
        }
    }
    /// The bucket of a value above zero.
    pub fn bucket(self) -> Option<i32> {
        match self.0 {
            FIRST..FIRST_LATE => Some(i32::from(self.0 - FIRST) + LOWEST),
            FIRST_LATE..END => Some(i32::from(self.0 - FIRST_LATE) + LOWEST),
            _ => None,
        }
    }
    /// Answered, but late.
    pub fn is_late(self) -> bool {
        self.0 == LATE_ZERO || self.0 >= FIRST_LATE
    }
    /// Its number.
    pub const fn number(self) -> u16 {
        self.0
    }
    /// The code of this number, if there is one.
    pub const fn from_number(number: u16) -> Option<Code> {
        if number < END { Some(Code(number)) } else { None }
    }
}

/// How far above the lowest bucket a positive value's is.
fn offset(value: f64) -> u16 {
    (scale::bucket_of(value) - LOWEST) as u16
}
