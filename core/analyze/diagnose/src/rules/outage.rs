//! Detects outages: the link delivered nothing for a while, then all waiting packets at once.
//!
//! Probes alone do not show an outage. If senders pause, their queue drains, and probes sent one
//! after the other also arrive almost at once. Therefore the load must have delivered nothing.
use crate::delivery::Delivery;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Phase, Span};
use fathom_units::Direction;

/// Shorter ones are 802.11 retries, or caused by the measurement.
const SHORTEST_NS: u64 = 1_000_000_000;
/// Divisor: waiting probes, which must be sent too, arrive within this part of the outage.
const AT_ONCE: u64 = 10;
/// Minimum number of waiting probes.
const MIN_PROBES: usize = 5;

/// An interval without any delivery.
pub(super) struct Outage {
    /// Response time of the first probe that waited.
    pub(super) seconds: f64,
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().filter_map(|rise| finding(rise.phase, &outages(view, &rise))).collect()
}

fn finding(phase: &Phase, outages: &[Outage]) -> Option<Finding> {
    let longest_s = outages.iter().map(|outage| outage.seconds).reduce(f64::max)?;
    let total_s = outages.iter().map(|outage| outage.seconds).sum();
    let outage = fathom_run::Outage { phase: phase.kind, count: outages.len() as u64, longest_s, total_s };
    Some(Finding::new(Conclusion::Outage(outage), None, Certainty::Certain))
}

/// All in a phase, in the order of time.
pub(super) fn outages(view: &View<'_>, rise: &Rise<'_>) -> Vec<Outage> {
    let deliveries: Vec<Delivery> =
        Direction::BOTH.into_iter().filter_map(|d| Delivery::new(view, d, rise)).collect();
    // Both directions stand still: a direction that delivers shows that the link works.
    let stood_still = |span: Span| {
        let half = (span.end_ns - span.start_ns) / 2;
        deliveries.iter().all(|delivery| delivery.longest_silence_ns(span) >= half)
    };
    let answered = view.latency_in(rise.phase).filter_map(|probe| {
        let Span { start_ns, end_ns } = Span::after(probe.at, probe.value.observed()?);
        Some((start_ns, end_ns))
    });
    let probes: Vec<(u64, u64)> = answered.collect();
    let mut found = Vec::new();
    let mut rest = probes.as_slice();
    while let [(sent, came), ..] = rest {
        let waited = came - sent;
        // Probes that were sent while the first one waited, and arrived together with it.
        let with = |(s, c): &&(u64, u64)| *s < *came && c.abs_diff(*came) <= waited / AT_ONCE;
        let count = rest.iter().take_while(with).count();
        let last_sent = rest[..count].last().map_or(*sent, |(s, _)| *s);
        // Probes were waiting until the end.
        let throughout = last_sent - sent >= waited / 2;
        let is_outage = waited >= SHORTEST_NS
            && count >= MIN_PROBES
            && throughout
            && stood_still(Span { start_ns: *sent, end_ns: *came });
        if is_outage {
            found.push(Outage { seconds: waited as f64 / 1e9 });
        }
        rest = &rest[if is_outage { count } else { 1 }..];
    }
    found
}
