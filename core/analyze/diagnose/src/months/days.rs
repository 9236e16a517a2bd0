//! Groups of days that may have something in common.
use fathom_run::DayGroup;

/// All groups, the widest first.
pub(super) fn groups() -> impl Iterator<Item = DayGroup> {
    [DayGroup::All, DayGroup::Working, DayGroup::Weekend].into_iter().chain((0..7).map(DayGroup::Weekday))
}

/// Whether a day since 1970-01-01, a Thursday, is one of the group.
pub(super) const fn has(group: DayGroup, day: u64) -> bool {
    let weekday = (day + 3) % 7;
    match group {
        DayGroup::All => true,
        DayGroup::Working => weekday < 5,
        DayGroup::Weekend => weekday >= 5,
        DayGroup::Weekday(one) => weekday == one,
    }
}

/// The weekdays of a group of several.
pub(super) fn parts(group: DayGroup) -> impl Iterator<Item = DayGroup> {
    (0..7).map(DayGroup::Weekday).filter(move |day| group != *day && has_all_of(group, *day))
}

/// Whether all days of the other group are in the group.
pub(super) fn has_all_of(group: DayGroup, other: DayGroup) -> bool {
    // Any seven days.
    (4..11).all(|day| has(group, day) || !has(other, day))
}
