//! Sites that slow down at the same time, and what they share.
use crate::answer::Track;
use crate::promql::SITE;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Duration;

/// Least number of sites: two may slow down together by chance.
const MIN_SITES: usize = 3;
/// Least share of the sites that are slow or belong to a group, or both, that are both (the index
/// of Jaccard). A group with half of its sites slow, or one that explains half of the slow ones,
/// explains nothing.
const MIN_MATCH: f64 = 0.6;

/// What sites share: a router on their paths, a host that they probe, a provider, a region.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Membership {
    /// `hop`, `host`, or the name of a label.
    pub kind: String,
    /// The address of the router, the host, or the value of the label.
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

/// The times when sites were slow together.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct SlowTimes {
    /// Each time, in order.
    pub times: Vec<Together>,
    /// Number of all sites that were looked at.
    pub known: usize,
}

impl SlowTimes {
    /// Number of sites that were slow with others at any time.
    #[must_use]
    pub fn slow(&self) -> usize {
        self.times.iter().flat_map(|one| &one.sites).collect::<BTreeSet<_>>().len()
    }
}

/// When each site was slow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slowness {
    step_s: u64,
    /// The steps in which each known site was slow: their times, in units of `step_s`.
    sites: BTreeMap<String, BTreeSet<u64>>,
}

impl Slowness {
    /// Of these sites, none was slow so far. `step` has at least a second.
    #[must_use]
    pub fn new(step: Duration, known: impl IntoIterator<Item = String>) -> Slowness {
        let step_s = (step.as_nanos() / 1_000_000_000).max(1);
        Slowness { step_s, sites: known.into_iter().map(|site| (site, BTreeSet::new())).collect() }
    }
    /// The site was slow in the step that ends `at_s` seconds after 1970.
    pub fn add(&mut self, site: &str, at_s: f64) {
        let step = libm::round(at_s / self.step_s as f64) as u64;
        self.sites.entry(site.into()).or_default().insert(step);
    }
    /// Adds the answer to [`crate::slow_query`].
    pub fn add_tracks(&mut self, tracks: &[Track]) {
        for track in tracks {
            let Some(site) = track.labels.get(SITE) else { continue };
            track.points.iter().for_each(|(at_s, _)| self.add(site, *at_s));
        }
    }
    /// The sites that are slow at each step. A site is slow if it is in most of three consecutive
    /// steps: single steps are chance, and one that is missing is no end.
    fn by_step(&self) -> BTreeMap<u64, BTreeSet<&str>> {
        let mut slow: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for (site, steps) in &self.sites {
            let candidates = steps.iter().flat_map(|step| [step.saturating_sub(1), *step, step + 1]);
            for step in candidates {
                let around = [step.saturating_sub(1), step, step + 1];
                if around.iter().filter(|near| steps.contains(near)).count() >= 2 {
                    slow.entry(step).or_default().insert(site);
                }
            }
        }
        slow
    }
}

/// Finds sites that were slow together, in order of time. `groups` has the sites of each
/// membership.
#[must_use]
pub fn together(slowness: &Slowness, groups: &BTreeMap<Membership, BTreeSet<String>>) -> SlowTimes {
    let known: BTreeSet<&str> = slowness.sites.keys().map(String::as_str).collect();
    let present: Vec<Group<'_>> = groups
        .iter()
        .map(|(shared, members)| {
            let sites = members.iter().map(String::as_str).filter(|site| known.contains(site)).collect();
            Group { shared, sites }
        })
        .collect();
    let slow = slowness.by_step();
    let mut found: Vec<Together> = Vec::new();
    let mut running_at = None;
    for (step, sites) in slow {
        let best = (sites.len() >= MIN_SITES).then(|| best(&sites, &present)).flatten();
        let Some((group, ratio)) = best else { continue };
        let shared = group.shared;
        let now: Vec<&str> = sites.intersection(&group.sites).copied().collect();
        let at_s = (step * slowness.step_s) as f64;
        let is_running = running_at.is_some_and(|before| before + 1 == step);
        running_at = Some(step);
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
    }
    for one in &mut found {
        let members = present.iter().filter(|group| *group.shared == one.shared).flat_map(|g| &g.sites);
        let is_unaffected = |site: &&&str| one.sites.binary_search_by(|s| s.as_str().cmp(site)).is_err();
        one.unaffected = members.filter(is_unaffected).count();
    }
    SlowTimes { times: found, known: known.len() }
}

/// The known sites of a membership.
struct Group<'g> {
    shared: &'g Membership,
    sites: BTreeSet<&'g str>,
}

/// What is nearer to the cause comes first: a router, then a host, then a label.
fn closeness(kind: &str) -> u8 {
    match kind {
        "hop" => 2,
        "host" => 1,
        _ => 0,
    }
}

/// The membership that explains best which sites are slow. Of equal ones, the smallest group: a
/// router rather than the whole region behind it.
fn best<'p, 'g>(slow: &BTreeSet<&str>, groups: &'p [Group<'g>]) -> Option<(&'p Group<'g>, f64)> {
    let matches = groups.iter().filter_map(|group| {
        let both = group.sites.intersection(slow).count();
        let either = group.sites.len() + slow.len() - both;
        let ratio = both as f64 / either.max(1) as f64;
        (both >= MIN_SITES && ratio >= MIN_MATCH).then_some((group, ratio))
    });
    let better = |a: &(&Group<'_>, f64), b: &(&Group<'_>, f64)| {
        let near = |group: &Group<'_>| closeness(&group.shared.kind);
        a.1.total_cmp(&b.1).then(b.0.sites.len().cmp(&a.0.sites.len())).then(near(a.0).cmp(&near(b.0)))
    };
    matches.max_by(better)
}
