//! Detects patterns that recur at the same hours.
use super::chance::at_least;
use super::days::{groups, has, has_all_of, parts};
use super::view::{Hour, View};
use super::{MIN_DAYS, PastLoad};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, DayGroup, Finding, LinkUse, RecurringDelay, RecurringHours, RecurringLoss, Span,
};
use fathom_stats::median;
use fathom_units::WallTime;

/// Minimum increase in seconds. Games suffer from some 10 ms, calls from much more (ITU-T G.114).
const MIN_EXCESS_S: f64 = 0.005;
/// Minimum increase relative to the usual delay: slow paths need more to be noticed.
const MIN_EXCESS_RATIO: f64 = 0.2;
/// Loss ratio of an hour at which TCP and calls start to suffer.
const MIN_LOSS_RATIO: f64 = 0.005;
/// A single lost probe may be coincidence.
const MIN_LOST: u64 = 3;
/// Minimum share of days that show the pattern.
const MIN_SHARE: f64 = 0.6;
/// Minimum share for every weekday of a group.
const MIN_SHARE_OF_EACH: f64 = 0.3;
/// With fewer days, a weekday is not considered separately.
const MIN_OF_EACH: usize = 3;
/// Number of tests: the hours of the day for all days, working days, weekends and each weekday.
const TESTS: f64 = 240.0;
const SHOWN: usize = 5;
/// The household's own traffic below this share of its maximum does not explain a queue.
const IDLE_SHARE: f64 = 0.2;

/// Recurring hours on a group of days.
struct Pattern {
    group: DayGroup,
    from: u64,
    to: u64,
    /// Largest probability by chance among its hours.
    chance: f64,
    /// Number of days in the group, and number of those that show the pattern.
    days: usize,
    hit: usize,
}

pub(super) fn delay(view: &View<'_>, load: &[PastLoad], chance: f64) -> Vec<Finding> {
    let is_slow = |hour: &Hour| hour.excess > MIN_EXCESS_S.max(hour.usual * MIN_EXCESS_RATIO);
    let patterns = patterns(view, chance, &is_slow);
    let finding = |pattern: &Pattern| {
        let excesses = within(view, pattern).filter(|h| is_slow(h)).map(|h| h.excess);
        let own = own_share(view, pattern, load);
        let delay = RecurringDelay {
            of: view.past.named(),
            hours: recurring_hours(view, pattern, &is_slow),
            excess_s: median(excesses).unwrap_or(0.0),
            own_link: match own {
                Some(share) if share < IDLE_SHARE => LinkUse::Idle,
                Some(_) => LinkUse::Busy,
                None => LinkUse::Unknown,
            },
        };
        let certainty = certainty(pattern, own.is_some());
        let mut finding = Finding::new(Conclusion::RecurringDelay(delay), None, certainty);
        finding.spans = spans(view, pattern, &is_slow);
        finding
    };
    patterns.iter().map(finding).collect()
}

pub(super) fn loss(view: &View<'_>, chance: f64) -> Vec<Finding> {
    let is_lossy =
        |hour: &Hour| hour.lost >= MIN_LOST && hour.lost as f64 > hour.sent as f64 * MIN_LOSS_RATIO;
    let patterns = patterns(view, chance, &is_lossy);
    let finding = |pattern: &Pattern| {
        let sum = |count: fn(&Hour) -> u64| within(view, pattern).map(count).sum::<u64>() as f64;
        let loss = RecurringLoss {
            of: view.past.named(),
            hours: recurring_hours(view, pattern, &is_lossy),
            loss_ratio: sum(|h| h.lost) / sum(|h| h.sent).max(1.0),
        };
        let mut finding = Finding::new(Conclusion::RecurringLoss(loss), None, certainty(pattern, true));
        finding.spans = spans(view, pattern, &is_lossy);
        finding
    };
    patterns.iter().map(finding).collect()
}

/// Hours at which the condition holds on most days of a group, and not by chance.
fn patterns(view: &View<'_>, chance: f64, is_so: &dyn Fn(&Hour) -> bool) -> Vec<Pattern> {
    if view.days.len() < MIN_DAYS {
        return Vec::new();
    }
    let all = view.hours.len();
    let so = view.hours.iter().filter(|hour| is_so(hour)).count();
    // As if one more hour met the condition: a rate of zero would make anything certain.
    let rate = (so + 1) as f64 / (all + 1) as f64;
    let mut found: Vec<Pattern> = Vec::new();
    for group in groups() {
        let mut hours: Vec<Pattern> = Vec::new();
        for hour in 0..24 {
            let is_known = |p: &Pattern| has_all_of(p.group, group) && (p.from..p.to).contains(&hour);
            if found.iter().any(is_known) {
                continue;
            }
            hours.extend(one(view, group, hour, rate, is_so).filter(|p| p.chance < chance / TESTS));
        }
        found.extend(joined(hours));
    }
    found
}

fn one(
    view: &View<'_>,
    group: DayGroup,
    hour: u64,
    rate: f64,
    is_so: &dyn Fn(&Hour) -> bool,
) -> Option<Pattern> {
    let count = |of: DayGroup, only: &dyn Fn(&Hour) -> bool| {
        let mine = view.hours.iter().filter(|h| h.hour == hour && has(of, h.day) && only(h));
        mine.map(|h| h.day).collect::<BTreeSet<_>>().len()
    };
    let share = |of: DayGroup| (count(of, is_so), count(of, &|_| true));
    let (hit, days) = share(group);
    let some_go_without = parts(group).any(|part| {
        let (of_it, all) = share(part);
        all >= MIN_OF_EACH && (of_it as f64) < MIN_SHARE_OF_EACH * all as f64
    });
    let enough = hit as f64 >= MIN_SHARE * days as f64 && hit > 1 && !some_go_without;
    enough.then(|| Pattern { group, from: hour, to: hour + 1, chance: at_least(hit, days, rate), days, hit })
}

fn joined(hours: Vec<Pattern>) -> Vec<Pattern> {
    let mut joined: Vec<Pattern> = Vec::new();
    for next in hours {
        match joined.last_mut().filter(|last| last.to == next.from) {
            Some(last) => {
                last.to = next.to;
                last.chance = last.chance.max(next.chance);
                last.hit = last.hit.min(next.hit);
            }
            None => joined.push(next),
        }
    }
    joined
}

fn within<'v>(view: &'v View<'_>, pattern: &'v Pattern) -> impl DoubleEndedIterator<Item = &'v Hour> {
    let inside = |h: &&Hour| has(pattern.group, h.day) && (pattern.from..pattern.to).contains(&h.hour);
    view.hours.iter().filter(inside)
}

fn certainty(pattern: &Pattern, whose_is_known: bool) -> Certainty {
    match (whose_is_known, pattern.chance < 1e-12, pattern.hit >= 14) {
        (true, true, true) => Certainty::Certain,
        (_, true, _) => Certainty::Likely,
        _ => Certainty::Possible,
    }
}

fn recurring_hours(view: &View<'_>, pattern: &Pattern, is_so: &dyn Fn(&Hour) -> bool) -> RecurringHours {
    let inside: BTreeSet<u64> = within(view, pattern).map(|h| h.from.0).collect();
    let others = || view.hours.iter().filter(|h| !inside.contains(&h.from.0));
    RecurringHours {
        days: pattern.group,
        from_hour: pattern.from,
        to_hour: pattern.to,
        hit_days: pattern.hit as u64,
        all_days: pattern.days as u64,
        elsewhere_ratio: others().filter(|h| is_so(h)).count() as f64 / others().count().max(1) as f64,
        chance_ratio: pattern.chance,
    }
}

/// The most recent days that show the pattern.
fn spans(view: &View<'_>, pattern: &Pattern, is_so: &dyn Fn(&Hour) -> bool) -> Vec<Span> {
    let mut found: Vec<(u64, WallTime, WallTime)> = Vec::new();
    for hour in within(view, pattern).rev().filter(|h| is_so(h)) {
        let is_full = found.len() == SHOWN;
        match found.last_mut().filter(|(day, ..)| *day == hour.day) {
            Some((_, from, _)) => *from = (*from).min(hour.from),
            None if is_full => break,
            None => found.push((hour.day, hour.from, hour.to)),
        }
    }
    found.into_iter().map(|(_, from, to)| view.months.span(from, to)).collect()
}

/// Median relative throughput of the own link in these hours, in the busier direction.
fn own_share(view: &View<'_>, pattern: &Pattern, load: &[PastLoad]) -> Option<f64> {
    let share = |one: &PastLoad| {
        let most = one
            .slots
            .iter()
            .filter_map(|slot| slot.sketch.quantile(0.99))
            .fold(super::load::MIN_CAPACITY_BITS_PER_SECOND, f64::max);
        let local = |slot: &&fathom_watch_samples::Column| {
            let local_s = view.zone.local_s(slot.from);
            has(pattern.group, local_s / 86_400)
                && (pattern.from..pattern.to).contains(&(local_s / 3_600 % 24))
        };
        let middles = one.slots.iter().filter(local).filter_map(|slot| slot.sketch.quantile(0.5));
        median(middles).map(|middle| middle / most)
    };
    load.iter().filter_map(share).reduce(f64::max)
}
