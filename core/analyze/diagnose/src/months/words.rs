//! Findings in words.
use super::view::View;
use super::{MonthsFinding, MonthsKind};
use crate::diagnosis::Confidence;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Date;

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

/// A day since 1970-01-01 as `3 March 2026`.
pub(super) fn date(days: u64) -> String {
    let Date { year, month, day } = Date::from_days(days);
    let name = MONTHS.get((month - 1) as usize).unwrap_or(&"");
    format!("{day} {name} {year}")
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
