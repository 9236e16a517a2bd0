//! Sites that slow down at the same time, and what they share.
use crate::answer::Track;
use crate::promql::SITE;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Least number of sites: two may slow down together by chance.
const MIN_SITES: usize = 3;
/// Least share of the sites that are slow or belong to a group, or both, that are both (the index
/// of Jaccard). A group with half of its sites slow, or one that explains half of the slow ones,
/// explains nothing.
const MIN_MATCH: f64 = 0.6;

/// What sites share: a router on their paths, a provider, a region.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Membership {
    /// `hop`, or the name of a label.
    pub kind: String,
    /// The address of the router, or the value of the label.
    pub value: String,
}

/// Sites that were slow together.
#[derive(Clone, PartialEq, Debug)]
pub struct Together {
    /// What they share.
    pub shared: Membership,
    /// Start and end, in seconds since 1970.
    pub span_s: (f64, f64),
    /// The sites that were slow and share it, by name.
    pub sites: Vec<String>,
    /// Sites that share it and were never slow in this time.
    pub unaffected: usize,
    /// Largest share of both among all that are slow or share it, from 0 to 1.
    pub match_ratio: f64,
}

/// Finds sites that were slow together, in order of time. `tracks` has for each site how much its
/// latency is above its lowest, in seconds, at common steps; `limit_s` is the value from which it
/// is slow. `groups` has the sites of each membership.
#[must_use]
pub fn together(
    tracks: &[Track],
    groups: &BTreeMap<Membership, BTreeSet<String>>,
    limit_s: f64,
) -> Vec<Together> {
    let known: BTreeSet<&str> =
        tracks.iter().filter_map(|track| Some(track.labels.get(SITE)?.as_str())).collect();
    let slow = slow_by_step(tracks, limit_s);
    let mut found: Vec<Together> = Vec::new();
    let mut is_running = false;
    for (at_ms, sites) in slow {
        let best = (sites.len() >= MIN_SITES).then(|| best(&sites, groups, &known)).flatten();
        let Some((shared, ratio)) = best else {
            is_running = false;
            continue;
        };
        let members = groups.get(shared);
        let of_it = |site: &&&str| members.is_some_and(|members| members.contains(**site));
        let now: Vec<&str> = sites.iter().filter(of_it).copied().collect();
        let at_s = at_ms as f64 / 1e3;
        match found.last_mut().filter(|last| is_running && last.shared == *shared) {
            Some(last) => {
                last.span_s.1 = at_s;
                last.match_ratio = last.match_ratio.max(ratio);
                let new =
                    now.iter().filter(|site| last.sites.binary_search_by(|s| s.as_str().cmp(site)).is_err());
                let new: Vec<String> = new.map(ToString::to_string).collect();
                last.sites.extend(new);
                last.sites.sort();
            }
            None => found.push(Together {
                shared: shared.clone(),
                span_s: (at_s, at_s),
                sites: now.iter().map(ToString::to_string).collect(),
                unaffected: 0,
                match_ratio: ratio,
            }),
        }
        is_running = true;
    }
    for one in &mut found {
        let members = groups.get(&one.shared).into_iter().flatten();
        one.unaffected =
            members.filter(|site| known.contains(site.as_str()) && !one.sites.contains(site)).count();
    }
    found
}

/// The sites that are slow at each step, in ms since 1970. A site is slow if it is in most of three
/// consecutive steps: single steps are chance, and one that is missing is no end.
fn slow_by_step(tracks: &[Track], limit_s: f64) -> BTreeMap<u64, BTreeSet<&str>> {
    let ms = |at: f64| (at * 1e3) as u64;
    let times = tracks.iter().flat_map(|track| track.points.iter().map(|(at, _)| ms(*at)));
    let mut slow: BTreeMap<u64, BTreeSet<&str>> = times.map(|at| (at, BTreeSet::new())).collect();
    let steps: Vec<u64> = slow.keys().copied().collect();
    for track in tracks {
        let Some(site) = track.labels.get(SITE) else { continue };
        let exceeding: BTreeSet<u64> =
            track.points.iter().filter(|(_, value)| *value >= limit_s).map(|(at, _)| ms(*at)).collect();
        for (index, step) in steps.iter().enumerate() {
            let around = steps.get(index.saturating_sub(1)..steps.len().min(index + 2)).unwrap_or_default();
            if around.iter().filter(|near| exceeding.contains(near)).count() >= 2 {
                slow.entry(*step).or_default().insert(site);
            }
        }
    }
    slow
}

/// The membership that explains best which sites are slow. Of equal ones, the smallest group: a
/// router rather than the whole region behind it.
fn best<'g>(
    slow: &BTreeSet<&str>,
    groups: &'g BTreeMap<Membership, BTreeSet<String>>,
    known: &BTreeSet<&str>,
) -> Option<(&'g Membership, f64)> {
    let matches = groups.iter().filter_map(|(shared, members)| {
        let present: BTreeSet<&str> =
            members.iter().map(String::as_str).filter(|site| known.contains(site)).collect();
        let both = present.intersection(slow).count();
        let either = present.union(slow).count();
        let ratio = both as f64 / either.max(1) as f64;
        (both >= MIN_SITES && ratio >= MIN_MATCH).then_some((shared, ratio, present.len()))
    });
    let better = |a: &(_, f64, usize), b: &(_, f64, usize)| a.1.total_cmp(&b.1).then(b.2.cmp(&a.2));
    matches.max_by(better).map(|(shared, ratio, _)| (shared, ratio))
}
