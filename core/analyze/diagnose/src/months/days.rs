//! Groups of days that may share a pattern.
use fathom_run::DayGroup;

/// All groups, the largest first.
pub(super) fn groups() -> impl Iterator<Item = DayGroup> {
    [DayGroup::All, DayGroup::Working, DayGroup::Weekend].into_iter().chain((0..7).map(DayGroup::Weekday))
}

/// Whether a day, counted from Thursday 1970-01-01, belongs to the group.
pub(super) const fn has(group: DayGroup, day: u64) -> bool {
    let weekday = (day + 3) % 7;
    match group {
        DayGroup::All => true,
        DayGroup::Working => weekday < 5,
        DayGroup::Weekend => weekday >= 5,
        DayGroup::Weekday(one) => weekday == one,
    }
}

/// The weekdays of a group with several.
pub(super) fn parts(group: DayGroup) -> impl Iterator<Item = DayGroup> {
    (0..7).map(DayGroup::Weekday).filter(move |day| group != *day && has_all_of(group, *day))
}

/// Whether the group contains all days of another.
pub(super) fn has_all_of(group: DayGroup, other: DayGroup) -> bool {
    // Any seven consecutive days.
    (4..11).all(|day| has(group, day) || !has(other, day))
}
