//! Detects buffers filled by the household's own traffic.
use super::chance::at_least;
use super::view::View;
use super::{MIN_DAYS, PastLoad};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, OwnLoad};
use fathom_stats::{median, percentile};
use fathom_units::{Direction, PerDirection, WallTime};
use fathom_watch_samples::Column;

/// The link is full above this share of the highest throughput seen, idle below the second.
const FULL_SHARE: f64 = 0.7;
const IDLE_SHARE: f64 = 0.3;
/// Quantile of the throughput that counts as capacity: a single reading may be a counter artifact.
const CAPACITY_QUANTILE: f64 = 0.999;
/// Minimum capacity in bit/s: a link that never carried more was never full.
pub(super) const MIN_CAPACITY_BITS_PER_SECOND: f64 = 1e6;
/// Shorter queueing delays are harmless.
const MIN_S: f64 = 0.03;
/// Fewer episodes at full capacity prove nothing.
const MIN_EPISODES: usize = 10;
/// Ratio of idle intervals that exceed the delay called rare.
const RARE: f64 = 0.05;
const SHOWN: usize = 5;

/// Delay and throughput in an interval of ten minutes.
struct Slot {
    from: WallTime,
    to: WallTime,
    /// Maximum delay above the day's base, in seconds.
    excess: f64,
    /// Throughput relative to capacity.
    share: PerDirection<f64>,
}

pub(super) fn own(view: &View<'_>, load: &[PastLoad], chance: f64) -> Vec<Finding> {
    let slots = slots(view, load);
    let mut idle: Vec<f64> =
        slots.iter().filter(|s| s.share.iter().all(|(_, x)| *x < IDLE_SHARE)).map(|s| s.excess).collect();
    let (Some(rare), Some(usual)) = (percentile(&mut idle, 1.0 - RARE), percentile(&mut idle, 0.5)) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for direction in Direction::BOTH {
        let episodes = episodes(&slots, direction);
        let high = episodes.iter().filter(|e| e.excess > rare).count();
        let size = median(episodes.iter().map(|e| e.excess)).unwrap_or(0.0);
        // Both directions are tested, and the true ratio above `rare` may be slightly larger.
        let by_chance = at_least(high, episodes.len(), 2.0 * RARE);
        if episodes.len() < MIN_EPISODES
            || view.days.len() < MIN_DAYS
            || by_chance > chance / 2.0
            || size - usual < MIN_S
        {
            continue;
        }
        let found = Found { direction, size, usual, rare, by_chance };
        findings.push(finding(view, &episodes, &found));
    }
    findings
}

/// Delay and throughput of each ten minutes.
fn slots(view: &View<'_>, load: &[PastLoad]) -> Vec<Slot> {
    let of = |direction: Direction| load.iter().find(|one| one.direction == direction);
    let shares = PerDirection::from_fn(|direction| of(direction).map(share_by_time).unwrap_or_default());
    if shares.iter().all(|(_, share)| share.is_empty()) {
        return Vec::new();
    }
    let slot = |column: &Column| {
        let base = view.days.get(&(view.zone.local_s(column.from) / 86_400))?.base;
        let share = shares.as_ref().map(|share| share.get(&column.from.0).copied());
        // A direction without a record counts as idle; without any record the load is unknown.
        let known = share.iter().any(|(_, share)| share.is_some());
        let excess = column.sketch.max()? - base;
        known.then(|| Slot {
            from: column.from,
            to: column.to,
            excess,
            share: share.map(Option::unwrap_or_default),
        })
    };
    view.past.slots.iter().filter_map(slot).collect()
}

fn share_by_time(load: &PastLoad) -> BTreeMap<u64, f64> {
    let mut all = fathom_watch_samples::Sketch::default();
    load.slots.iter().for_each(|slot| all.merge(&slot.sketch));
    let capacity = all.quantile(CAPACITY_QUANTILE).unwrap_or(0.0).max(MIN_CAPACITY_BITS_PER_SECOND);
    let share = |slot: &Column| Some((slot.from.0, slot.sketch.max()? / capacity));
    load.slots.iter().filter_map(share).collect()
}

/// Merges adjacent intervals at full capacity into episodes with their maximum delay.
fn episodes(slots: &[Slot], direction: Direction) -> Vec<Slot> {
    let is_full = |s: &&Slot| s.share[direction] >= FULL_SHARE && s.share[direction.reverse()] < FULL_SHARE;
    let mut found: Vec<Slot> = Vec::new();
    for slot in slots.iter().filter(is_full) {
        match found.last_mut().filter(|last| last.to == slot.from) {
            Some(last) => (last.to, last.excess) = (slot.to, last.excess.max(slot.excess)),
            None => found.push(Slot { from: slot.from, to: slot.to, excess: slot.excess, share: slot.share }),
        }
    }
    found
}

/// A direction in which delay rises when the link is full.
struct Found {
    direction: Direction,
    /// Median delay above the day's base while the link is full, in seconds.
    size: f64,
    /// Median delay above the day's base while the link is idle, in seconds.
    usual: f64,
    /// Delay that is rarely exceeded while the link is idle.
    rare: f64,
    by_chance: f64,
}

fn finding(view: &View<'_>, episodes: &[Slot], found: &Found) -> Finding {
    let high: Vec<&Slot> = episodes.iter().filter(|e| e.excess > found.rare.max(found.size / 2.0)).collect();
    let days = view.past.slots.len() as f64 / 144.0;
    let load = OwnLoad {
        of: view.past.named(),
        delay_s: found.size,
        idle_delay_s: found.usual,
        full_count: episodes.len() as u64,
        slow_count: high.len() as u64,
        slow_per_day: high.len() as f64 / days.max(1.0),
        chance_ratio: found.by_chance,
    };
    let is_certain = found.by_chance < 1e-12 && found.size > 4.0 * found.usual;
    let certainty = if is_certain { Certainty::Certain } else { Certainty::Likely };
    let mut finding = Finding::new(Conclusion::OwnLoad(load), Some(found.direction), certainty);
    finding.spans.extend(high.iter().rev().take(SHOWN).map(|e| view.months.span(e.from, e.to)));
    finding
}
