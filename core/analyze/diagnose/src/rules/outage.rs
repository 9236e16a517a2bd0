//! The link delivered nothing for a while: what was sent in that time arrived at its end, all at once.
//!
//! A full queue looks otherwise: what was sent over a second comes over a second, each as late as the one before.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Phase, Value};

/// A shorter one is a retry of 802.11, or the instrument's.
const SHORTEST_NS: u64 = 1_000_000_000;
/// What waited comes within this part of the outage: its own queue has to be sent.
const AT_ONCE: u64 = 10;
/// Probes that must have waited.
const MIN_PROBES: usize = 5;

/// Nothing came through.
pub(super) struct Outage {
    /// How long the answer to the first probe of those that waited took.
    pub(super) seconds: f64,
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().filter_map(|rise| finding(rise.phase, &outages(view, rise.phase))).collect()
}

fn finding(phase: &Phase, outages: &[Outage]) -> Option<Finding> {
    let longest_s = outages.iter().map(|outage| outage.seconds).reduce(f64::max)?;
    let total_s = outages.iter().map(|outage| outage.seconds).sum();
    let outage = fathom_run::Outage { phase: phase.kind, count: outages.len() as u64, longest_s, total_s };
    Some(Finding::new(Conclusion::Outage(outage), None, Certainty::Certain))
}

/// All in a phase, in the order of time.
pub(super) fn outages(view: &View<'_>, phase: &Phase) -> Vec<Outage> {
    let answered = view.latency_in(phase).filter_map(|probe| match probe.value {
        Value::Observed(value) => {
            Some((probe.at.as_nanos(), probe.at.as_nanos().saturating_add((value * 1e9) as u64)))
        }
        Value::Censored { .. } => None,
    });
    let probes: Vec<(u64, u64)> = answered.collect();
    let mut found = Vec::new();
    let mut rest = probes.as_slice();
    while let [(sent, came), ..] = rest {
        let waited = came - sent;
        // Those that were sent while the first waited, and came with it.
        let with = |(s, c): &&(u64, u64)| *s < *came && c.abs_diff(*came) <= waited / AT_ONCE;
        let count = rest.iter().take_while(with).count();
        let last_sent = rest[..count].last().map_or(*sent, |(s, _)| *s);
        // Up to the end probes were waiting.
        let throughout = last_sent - sent >= waited / 2;
        let is_outage = waited >= SHORTEST_NS && count >= MIN_PROBES && throughout;
        if is_outage {
            found.push(Outage { seconds: waited as f64 / 1e9 });
        }
        rest = &rest[if is_outage { count } else { 1 }..];
    }
    found
}
