//! The line stood still: what was sent in that time came at its end, all at once.
//!
//! A full queue looks otherwise: what was sent over a second comes over a second, each as late as the one before.
use crate::rules::while_doing;
use crate::view::View;
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Phase, Value};
use fathom_text::seconds;

/// A shorter one is a retry of 802.11, or the instrument's.
const SHORTEST_NS: u64 = 1_000_000_000;
/// What waited comes within this part of the outage: its own queue has to be sent.
const AT_ONCE: u64 = 10;
/// Probes that must have waited.
const FEWEST: usize = 5;

/// Nothing came through.
pub(super) struct Outage {
    /// How long the answer to the first probe of those that waited took.
    pub(super) seconds: f64,
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().filter_map(|rise| finding(rise.phase, &outages(view, rise.phase))).collect()
}

fn finding(phase: &Phase, outages: &[Outage]) -> Option<Finding> {
    let longest = outages.iter().map(|outage| outage.seconds).reduce(f64::max)?;
    let sum: f64 = outages.iter().map(|outage| outage.seconds).sum();
    let times = match outages.len() {
        1 => format!("for {}", seconds(longest)),
        n => format!("{n} times, for {} at most and {} together", seconds(longest), seconds(sum)),
    };
    let doing = while_doing(phase.kind);
    let text = format!(
        "The line stood still {doing}, {times}: what waited came at once. That is an outage, no queue."
    );
    let finding = Finding::new(FindingKind::Outage, None, Confidence::High, text)
        .evidence("longest outage", longest, "s")
        .evidence("outages together", sum, "s");
    Some(finding)
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
        let is_outage = waited >= SHORTEST_NS && count >= FEWEST && throughout;
        if is_outage {
            found.push(Outage { seconds: waited as f64 / 1e9 });
        }
        rest = &rest[if is_outage { count } else { 1 }..];
    }
    found
}
