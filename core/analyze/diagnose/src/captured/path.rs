//! Findings of several captures of one path.
use alloc::vec::Vec;
use fathom_run::{
    Capture, CapturedHop, Certainty, Conclusion, Finding, InstrumentEffect, PathLoss, PathRemarking,
    Reordering,
};

/// Findings of each hop in turn; a NAT is reported once, although both directions pass it.
pub(super) fn findings(capture: &Capture) -> Vec<Finding> {
    let mut all: Vec<Finding> = capture.hops.iter().flat_map(of_hop).collect();
    all.extend(capture.hops.iter().enumerate().filter_map(|(place, hop)| {
        let is_reported = |before: &CapturedHop| before.captures.iter().eq(hop.captures.iter().rev());
        let before = capture.hops.iter().take(place);
        translated(hop).filter(|_| !before.filter(|before| before.translated_flows > 0).any(is_reported))
    }));
    all
}

const fn certain(conclusion: Conclusion) -> Finding {
    Finding::new(conclusion, None, Certainty::Certain)
}

const fn instrument(effect: InstrumentEffect) -> Finding {
    certain(Conclusion::Instrument(effect))
}

fn of_hop(hop: &CapturedHop) -> Vec<Finding> {
    let captures = || hop.captures.clone();
    let lost = (hop.lost_packets > 0).then(|| {
        let mut finding = certain(Conclusion::PathLoss(PathLoss {
            captures: captures(),
            lost_packets: hop.lost_packets,
            matched_packets: hop.matched_packets,
        }));
        finding.frames.clone_from(&hop.lost_frames);
        finding
    });
    let order = (hop.reordered_packets + hop.duplicated_packets > 0).then(|| {
        certain(Conclusion::Reordering(Reordering {
            captures: captures(),
            reordered_packets: hop.reordered_packets,
            duplicated_packets: hop.duplicated_packets,
        }))
    });
    let remarked = (!hop.remarked.is_empty()).then(|| {
        certain(Conclusion::Remarking(PathRemarking { captures: captures(), changes: hop.remarked.clone() }))
    });
    [lost, order, remarked].into_iter().flatten().chain(of_captures(hop)).collect()
}

fn of_captures(hop: &CapturedHop) -> impl Iterator<Item = Finding> {
    let captures = || hop.captures.clone();
    let (missed_packets, appeared_packets, unjudged_packets) =
        (hop.uncaptured_packets, hop.appeared_packets, hop.unjudged_packets);
    let all = [
        hop.is_clock_set.then(|| InstrumentEffect::CaptureClockSet { captures: captures() }),
        (missed_packets > 0)
            .then(|| InstrumentEffect::CaptureMissed { captures: captures(), missed_packets }),
        (appeared_packets > 0)
            .then(|| InstrumentEffect::CaptureAppeared { captures: captures(), appeared_packets }),
        (unjudged_packets > 0)
            .then(|| InstrumentEffect::CaptureUnjudged { captures: captures(), unjudged_packets }),
    ];
    all.into_iter().flatten().map(instrument)
}

fn translated(hop: &CapturedHop) -> Option<Finding> {
    let (captures, flow_count) = (hop.captures.clone(), hop.translated_flows);
    (flow_count > 0).then(|| instrument(InstrumentEffect::Translated { captures, flow_count }))
}
