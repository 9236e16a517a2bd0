//! Gregorian dates in UTC. Source: Hinnant, "chrono-compatible low-level date algorithms".
use crate::WallTime;
use core::fmt;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date {
    /// Year.
    pub year: u64,
    /// Month, 1 to 12.
    pub month: u64,
    /// Day of the month, from 1.
    pub day: u64,
}

impl Date {
    /// The date `days` days after 1970-01-01.
    pub const fn from_days(days: u64) -> Date {
        // Years start in March, so that the leap day is the last day; 400 years have 146,097 days.
        let since_march_0000 = days + 719_468;
        let era = since_march_0000 / 146_097;
        let day_of_era = since_march_0000 % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // March to January: five months have 153 days.
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
        Date { year, month, day }
    }
    /// Days since 1970-01-01; `None` for earlier dates and for days that do not exist.
    pub fn days(self) -> Option<u64> {
        let Date { year, month, day } = self;
        let year_from_march = if month <= 2 { year.checked_sub(1)? } else { year };
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
        let leap_days = year_from_march / 4 - year_from_march / 100 + year_from_march / 400;
        let days = (year_from_march * 365 + leap_days + day_of_year + day).checked_sub(719_469)?;
        // A nonexistent day would be one of the next month.
        Some(days).filter(|days| Date::from_days(*days) == self)
    }
}

impl WallTime {
    /// The date in UTC.
    pub const fn date(self) -> Date {
        Date::from_days(self.0 / 1_000_000_000 / 86_400)
    }
}

impl fmt::Display for Date {
    /// As in RFC 3339: `2026-11-20`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_round_trip_through_leap_years() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..400_000 {
            let date = Date { year, month, day };
            assert_eq!((Date::from_days(days), date.days()), (date, Some(days)));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                assert_eq!(Date { year, month, day }.days(), None);
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        for (y, m, d) in [(1969, 12, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (0, 1, 1)] {
            assert_eq!(Date { year: y, month: m, day: d }.days(), None, "{y}-{m}-{d}");
        }
    }
}
