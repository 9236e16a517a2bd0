//! Monotonic time, and wall time as a separate type.
use crate::Date;
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// Nanoseconds since the start of a run, on the run's monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

/// A non-negative span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Duration(u64);

/// Nanoseconds since 1970-01-01 UTC. It may step, so it has no arithmetic with [`Time`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct WallTime(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any time in a run.
    pub const MAX: Time = Time(u64::MAX);

    /// `nanos` nanoseconds after the start of the run.
    pub const fn from_nanos(nanos: u64) -> Self {
        Time(nanos)
    }
    /// Nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Time elapsed since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// This time moved back by `d`, not before the start of the run.
    pub const fn saturating_sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration.
    pub const MAX: Duration = Duration(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Duration(n)
    }
    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Duration(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Duration(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Duration(n * 1_000_000_000)
    }
    /// `s` seconds, rounded to the nanosecond; negative values and NaN become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        // A float-to-integer cast saturates and maps NaN to 0.
        Duration((s * 1e9 + 0.5) as u64)
    }
    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// `self - other`, at least zero.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Sub<Time> for Time {
    type Output = Duration;
    /// # Panics
    /// If `earlier` is later than `self`: the caller's clock ran backwards.
    fn sub(self, earlier: Time) -> Duration {
        assert!(self >= earlier, "time ran backwards: {self:?} before {earlier:?}");
        Duration(self.0 - earlier.0)
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Sub for Duration {
    type Output = Duration;
    /// # Panics
    /// If `other` is longer.
    fn sub(self, other: Duration) -> Duration {
        assert!(self >= other, "negative duration: {self} - {other}");
        Duration(self.0 - other.0)
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl fmt::Display for Duration {
    /// In the largest unit with a value of at least 1, up to three decimals: `1.5s`, `4.037ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            1_000_000_000.. => (1_000_000_000, "s"),
            1_000_000.. => (1_000_000, "ms"),
            1_000.. => (1_000, "us"),
            _ => (1, "ns"),
        };
        crate::parse::write_scaled(f, self.0, (unit, name), 3)
    }
}
impl fmt::Display for WallTime {
    /// RFC 3339 in UTC, with milliseconds: `2026-11-20T14:10:08.250Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000_000;
        let (h, m, s) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let ms = self.0 / 1_000_000 % 1000;
        write!(f, "{}T{h:02}:{m:02}:{s:02}.{ms:03}Z", self.date())
    }
}

/// The text is not a time in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoWallTime;

impl fmt::Display for NoWallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a UTC time such as 2026-11-20T14:10:08Z, 2026-11-20T14:10 or 2026-11-20")
    }
}
impl core::error::Error for NoWallTime {}

impl core::str::FromStr for WallTime {
    type Err = NoWallTime;

    /// RFC 3339 in UTC. The seconds, the whole time of day, and the `Z` are optional.
    fn from_str(text: &str) -> Result<Self, NoWallTime> {
        let text = text.strip_suffix('Z').unwrap_or(text);
        let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
        let number = |part: &str, most: u64| {
            let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u64>().ok().filter(|n| is_plain && *n <= most).ok_or(NoWallTime)
        };
        let mut date = date.splitn(3, '-');
        let mut next = |most| number(date.next().ok_or(NoWallTime)?, most);
        let (year, month, day) = (next(2500)?, next(12)?, next(31)?);
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let mut clock = clock.splitn(3, ':');
        let hours = number(clock.next().unwrap_or_default(), 23)?;
        let minutes = number(clock.next().ok_or(NoWallTime)?, 59)?;
        let seconds = clock.next().map_or(Ok(0), |part| number(part, 60))?;
        let nanos = number(fraction, u64::MAX)?
            * 10_u64.pow(9_u32.checked_sub(fraction.len() as u32).ok_or(NoWallTime)?);
        let days = Date { year, month, day }.days().ok_or(NoWallTime)?;
        let all = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
        Ok(WallTime(all * 1_000_000_000 + nanos))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn wall_time_is_written_as_rfc_3339() {
        // Seconds from `date -u +%s -d ...`.
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_799, "2000-02-29T23:59:59.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (1_795_183_808, "2026-11-20T14:10:08.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ];
        for (seconds, text) in cases {
            assert_eq!(WallTime(seconds * 1_000_000_000).to_string(), text);
        }
    }

    #[test]
    fn a_wall_time_is_read_as_it_is_written() {
        for day in (0..190_000).step_by(13) {
            let time = WallTime(day * 86_400_000_000_000 + 3_723_250_000_000);
            assert_eq!(time.to_string().parse(), Ok(time), "{time}");
        }
        let cases = [
            ("1970-01-01", 0),
            ("2000-02-29T00:00Z", 951_782_400),
            ("2026-11-20T14:10:08", 1_795_183_808),
            ("2026-11-20 14:10", 1_795_183_800),
        ];
        for (text, seconds) in cases {
            assert_eq!(text.parse(), Ok(WallTime(seconds * 1_000_000_000)), "{text}");
        }
        for bad in [
            "",
            "2026",
            "2026-02-30",
            "2026-13-01",
            "2026-00-01",
            "1969-12-31",
            "2026-1-1T24:00",
            "2026-01-01T",
            "2026-01-01T1:2:3:4",
            "+026-01-01",
            "2026-01-01T00:00:00.1234567890",
            "2026-01-01T00:00+02:00",
        ] {
            assert_eq!(bad.parse::<WallTime>(), Err(NoWallTime), "{bad}");
        }
    }
}
