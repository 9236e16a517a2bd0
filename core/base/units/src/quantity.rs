//! Amounts and rates of data.
use crate::time::Duration;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Rate(u64);

/// A fraction from 0 to 1. Percent exists only in its text form.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
pub struct Ratio(pub f64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// `self - other`, at least zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// `n` bit/s.
    pub const fn from_bits_per_second(n: u64) -> Self {
        Rate(n)
    }
    /// bit/s.
    pub const fn as_bits_per_second(self) -> u64 {
        self.0
    }
    /// Time to send `bytes` on a link of this rate, rounded down to 1 ns; forever at a rate of 0.
    ///
    /// Rounding errors of a sequence add up; `fathom_link::Serializer` carries the remainder.
    pub fn serialization_time(self, bytes: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let nanos = u128::from(bytes.0) * 8 * NANOS_PER_SEC / u128::from(self.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
    /// Bytes sent at this rate in `d`, rounded down.
    pub fn bytes_in(self, d: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(d.as_nanos()) / (8 * NANOS_PER_SEC);
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
    /// The rate that sends `bytes` in `d`; 0 if `d` is zero.
    pub fn from_bytes_per(bytes: Bytes, d: Duration) -> Rate {
        if d == Duration::ZERO {
            return Rate(0);
        }
        let bits = u128::from(bytes.0) * 8 * NANOS_PER_SEC / u128::from(d.as_nanos());
        Rate(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    /// # Panics
    /// If `other` is larger.
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    /// Decimal multiples, exact: `375kB`, `4.25MB`, `1514B`; parses to the same value. For `tc`,
    /// where `kB` is 1024 bytes, write sizes in plain bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            1_000_000_000.. => (1_000_000_000, "GB"),
            1_000_000.. => (1_000_000, "MB"),
            10_000.. => (1_000, "kB"),
            _ => (1, "B"),
        };
        crate::parse::write_scaled(f, self.0, (unit, name), usize::MAX)
    }
}
impl fmt::Display for Rate {
    /// The spelling of tc, exact: `20Mbit`, `2.5Mbit`, `64Kbit`. Parses to the same value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            1_000_000_000.. => (1_000_000_000, "Gbit"),
            1_000_000.. => (1_000_000, "Mbit"),
            1_000.. => (1_000, "Kbit"),
            _ => (1, "bit"),
        };
        crate::parse::write_scaled(f, self.0, (unit, name), usize::MAX)
    }
}
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}
