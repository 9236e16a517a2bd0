//! Reports outages. Where others fill a queue, their packets may pass while those of the load do
//! not, so none is found there.
use crate::outage::outages;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, Phase, Span};

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    if view.other_traffic.is_some() || !view.has_times() {
        return Vec::new();
    }
    view.rises().filter_map(|rise| finding(rise.phase, &outages(view, &rise))).collect()
}

fn finding(phase: &Phase, outages: &[Span]) -> Option<Finding> {
    let longest_s = outages.iter().map(|outage| outage.seconds()).reduce(f64::max)?;
    let total_s = outages.iter().map(|outage| outage.seconds()).sum();
    let outage = fathom_run::Outage { phase: phase.kind, count: outages.len() as u64, longest_s, total_s };
    Some(Finding::new(Conclusion::Outage(outage), None, Certainty::Certain))
}
