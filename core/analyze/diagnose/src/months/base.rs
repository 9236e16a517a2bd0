//! The least delay is another one since a day.
use super::view::{Day, View};
use super::words::{date, finding_of};
use super::{MonthsFinding, MonthsKind, Stretch};
use crate::diagnosis::Confidence;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_stats::median;
use fathom_text::milliseconds;
use fathom_units::WallTime;

/// Days on each side that must all differ: of 24 that are alike by chance in any order, one order in 2,704,156 parts them so.
const DAYS: usize = 12;
const ORDERS: f64 = 2_704_156.0;
/// A detour of 200 km and back.
const LEAST_S: f64 = 0.002;
const LEAST_RATIO: f64 = 0.05;
const DAY_NS: u64 = 86_400 * 1_000_000_000;

pub(super) fn changes(view: &View<'_>, path_changes: &[(u32, WallTime)], chance: f64) -> Vec<MonthsFinding> {
    let days: Vec<(u64, Day)> = view.days.iter().map(|(day, of)| (*day, *of)).collect();
    let places = (days.len() + 1).saturating_sub(2 * DAYS);
    // Each place can go up or down.
    if places == 0 || 2.0 * places as f64 / ORDERS > chance {
        return Vec::new();
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    for place in DAYS..DAYS + places {
        let Some(step) = step(&days, place) else { continue };
        match found.last_mut().filter(|(last, _)| place - *last < DAYS) {
            // One change parts its neighbours' days nearly as well: the widest gap is its day.
            Some(last) if step.abs() > last.1.abs() => *last = (place, step),
            Some(_) => {}
            None => found.push((place, step)),
        }
    }
    found.into_iter().filter_map(|(place, step)| finding(view, &days, (place, step), path_changes)).collect()
}

/// By how much the days from a place on differ from those before it, if each of the one differs from each of the other.
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
    (parted && (new - old).abs() > LEAST_S.max(old.min(new) * LEAST_RATIO)).then_some(new - old)
}

fn finding(
    view: &View<'_>,
    days: &[(u64, Day)],
    (place, step): (usize, f64),
    path_changes: &[(u32, WallTime)],
) -> Option<MonthsFinding> {
    let (day, of) = days.get(place)?;
    let near = |at: &WallTime| at.0.saturating_add(DAY_NS) >= of.from.0 && at.0 < of.from.0 + 2 * DAY_NS;
    let path = path_changes.iter().any(|(series, at)| *series == view.past.series && near(at));
    let why = if path { ", about when the path changed" } else { "" };
    let way = if step > 0.0 { "longer" } else { "shorter" };
    let text = format!("Since {} the least delay is {} {way}{why}.", date(*day), milliseconds(step.abs()));
    let refuted = "days since then with the least delay of before";
    let mut finding = finding_of(view, MonthsKind::BaseChange, text, refuted);
    finding.confidence = if path { Confidence::High } else { Confidence::Medium };
    let middle = |from: usize, to: usize| {
        median(days.get(from..to).unwrap_or_default().iter().map(|(_, d)| d.base)).unwrap_or(0.0)
    };
    let one = |name: &str, value: f64, unit| crate::Evidence { name: String::from(name), value, unit };
    finding.evidence = Vec::from([
        one("change of the least delay", step, "s"),
        one("least delay of the days before", middle(place - DAYS, place), "s"),
        one("least delay of the days since", middle(place, place + DAYS), "s"),
        one("days on each side, all of which differ", DAYS as f64, "days"),
    ]);
    finding.refuted_by = refuted.to_string();
    finding.stretches = Vec::from([Stretch {
        from: WallTime(of.from.0.saturating_sub(3 * DAY_NS)),
        to: WallTime(of.from.0 + 3 * DAY_NS),
    }]);
    Some(finding)
}
