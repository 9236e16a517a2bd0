//! Detects lasting changes of the minimum delay.
use super::view::{Day, View};
use alloc::vec::Vec;
use fathom_run::{BaseChange, Certainty, Conclusion, Finding};
use fathom_stats::median;
use fathom_units::WallTime;

/// Number of days on each side of a change, all of which must differ: of all orders of 24 similar
/// days, one in 2,704,156 separates them like this by chance.
const DAYS: usize = 12;
const ORDERS: f64 = 2_704_156.0;
/// Delay of a detour of 200 km in both directions.
const MIN_S: f64 = 0.002;
const MIN_RATIO: f64 = 0.05;
const DAY_NS: u64 = 86_400 * 1_000_000_000;

pub(super) fn changes(view: &View<'_>, path_changes: &[(u32, WallTime)], chance: f64) -> Vec<Finding> {
    let days: Vec<(u64, Day)> = view.days.iter().map(|(day, of)| (*day, *of)).collect();
    let places = (days.len() + 1).saturating_sub(2 * DAYS);
    // Each position is tested for an increase and a decrease.
    if places == 0 || 2.0 * places as f64 / ORDERS > chance {
        return Vec::new();
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    for place in DAYS..DAYS + places {
        let Some(step) = step(&days, place) else { continue };
        match found.last_mut().filter(|(last, _)| place - *last < DAYS) {
            // A change separates the days at neighboring positions nearly as well. The position
            // with the largest step is the day of the change.
            Some(last) if step.abs() > last.1.abs() => *last = (place, step),
            Some(_) => {}
            None => found.push((place, step)),
        }
    }
    found.into_iter().filter_map(|(place, step)| finding(view, &days, (place, step), path_changes)).collect()
}

/// Difference between the days from a position on and those before it, if all of them differ.
fn step(days: &[(u64, Day)], place: usize) -> Option<f64> {
    let bases = |from: usize, to: usize| -> Option<Vec<f64>> {
        Some(days.get(from..to)?.iter().map(|(_, day)| day.base).collect())
    };
    let (before, after) = (bases(place - DAYS, place)?, bases(place, place + DAYS)?);
    let ends = |values: &[f64]| {
        (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max))
    };
    let ((low, high), (new_low, new_high)) = (ends(&before), ends(&after));
    let (old, new) = (median(before.iter().copied())?, median(after.iter().copied())?);
    let parted = new_low > high || new_high < low;
    (parted && (new - old).abs() > MIN_S.max(old.min(new) * MIN_RATIO)).then_some(new - old)
}

fn finding(
    view: &View<'_>,
    days: &[(u64, Day)],
    (place, step): (usize, f64),
    path_changes: &[(u32, WallTime)],
) -> Option<Finding> {
    let (day, of) = days.get(place)?;
    let near = |at: &WallTime| at.0.saturating_add(DAY_NS) >= of.from.0 && at.0 < of.from.0 + 2 * DAY_NS;
    let path = path_changes.iter().any(|(series, at)| *series == view.past.series && near(at));
    let middle = |from: usize, to: usize| {
        median(days.get(from..to).unwrap_or_default().iter().map(|(_, d)| d.base)).unwrap_or(0.0)
    };
    let change = BaseChange {
        of: view.past.named(),
        since_day: *day,
        change_s: step,
        before_s: middle(place - DAYS, place),
        after_s: middle(place, place + DAYS),
        each_side_days: DAYS as u64,
        path_changed: path,
    };
    let certainty = if path { Certainty::Certain } else { Certainty::Likely };
    let mut finding = Finding::new(Conclusion::BaseChange(change), None, certainty);
    let (from, to) = (of.from.0.saturating_sub(3 * DAY_NS), of.from.0 + 3 * DAY_NS);
    finding.spans.push(view.months.span(WallTime(from), WallTime(to)));
    Some(finding)
}
