//! Findings in words.
use super::view::View;
use super::{MonthsFinding, MonthsKind};
use crate::diagnosis::Confidence;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const WEEKDAYS: [&str; 7] =
    ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days that may have something in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    All,
    Working,
    Weekend,
    /// 0 for Monday.
    Weekday(u64),
}

impl Group {
    /// The widest first.
    pub(super) fn all() -> impl Iterator<Item = Group> {
        [Group::All, Group::Working, Group::Weekend].into_iter().chain((0..7).map(Group::Weekday))
    }
    /// Whether a day since 1970-01-01, a Thursday, is one of them.
    pub(super) const fn has(self, day: u64) -> bool {
        let weekday = (day + 3) % 7;
        match self {
            Group::All => true,
            Group::Working => weekday < 5,
            Group::Weekend => weekday >= 5,
            Group::Weekday(one) => weekday == one,
        }
    }
    /// Its weekdays.
    pub(super) fn parts(self) -> impl Iterator<Item = Group> {
        (0..7).map(Group::Weekday).filter(move |day| self != *day && self.has_all_of(*day))
    }
    /// Whether all days of the other are its own.
    pub(super) fn has_all_of(self, other: Group) -> bool {
        // Any seven days.
        (4..11).all(|day| self.has(day) || !other.has(day))
    }
}

/// `every evening from 19 to 23 h`, with a capital.
pub(super) fn hours(group: Group, from: u64, to: u64) -> String {
    let parts = [(0, 8, "night"), (5, 12, "morning"), (12, 18, "afternoon"), (17, 24, "evening")];
    let part =
        parts.iter().find(|(low, high, _)| from >= *low && to <= *high).map_or("day", |(.., part)| part);
    let days = match group {
        Group::All => format!("Every {part}"),
        Group::Working => "On working days".to_string(),
        Group::Weekend => "At weekends".to_string(),
        Group::Weekday(one) => format!("On {}", WEEKDAYS.get(one as usize).unwrap_or(&"this weekday")),
    };
    format!("{days} from {from} to {to} h")
}

/// Seconds for a person.
pub(super) fn ms(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 0.01 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

pub(super) fn percent(ratio: f64) -> String {
    if ratio >= 0.0995 { format!("{:.0} %", ratio * 100.0) } else { format!("{:.1} %", ratio * 100.0) }
}

/// A day since 1970-01-01 as `3 March 2026` (Hinnant's algorithm for civil dates).
pub(super) fn date(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 2 } else { shifted_month - 10 };
    let year = year_of_era + era * 400 + u64::from(month < 2);
    format!("{of_month} {} {year}", MONTHS.get(month as usize).unwrap_or(&""))
}

pub(super) fn finding_of(view: &View<'_>, kind: MonthsKind, text: String, refuted_by: &str) -> MonthsFinding {
    MonthsFinding {
        kind,
        series: view.past.series,
        target: view.past.target.clone(),
        probe: view.past.probe.clone(),
        text,
        confidence: Confidence::Low,
        evidence: Vec::new(),
        stretches: Vec::new(),
        refuted_by: refuted_by.to_string(),
    }
}
