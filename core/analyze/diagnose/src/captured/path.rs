//! Findings of several captures of one path.
use super::findings::instrument;
use super::words::counted;
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedHop};
use fathom_text::percent;

/// Hop after hop; a NAT once, though both directions pass it.
pub(super) fn findings(capture: &Capture) -> Vec<Finding> {
    let mut all: Vec<Finding> = capture.hops.iter().flat_map(of_hop).collect();
    all.extend(capture.hops.iter().enumerate().filter_map(|(place, hop)| {
        let is_told = |before: &CapturedHop| before.captures.iter().eq(hop.captures.iter().rev());
        let before = capture.hops.iter().take(place);
        translated(hop).filter(|_| !before.filter(|before| before.translated_flows > 0).any(is_told))
    }));
    all
}

/// What happens between two captures.
fn of_hop(hop: &CapturedHop) -> Vec<Finding> {
    let [from, to] = &hop.captures;
    let between = format!("Between {from} and {to}");
    let lost = (hop.lost_packets > 0).then(|| {
        let all = (hop.lost_packets + hop.matched_packets).max(1);
        let share = hop.lost_packets as f64 / all as f64;
        let were = if hop.lost_packets == 1 { "was" } else { "were" };
        let text = format!("{between} {} {were} lost ({}).", packets(hop.lost_packets), percent(share));
        let finding = Finding::new(FindingKind::Loss, None, Confidence::High, text)
            .evidence("lost", hop.lost_packets as f64, "packets")
            .evidence("in both", hop.matched_packets as f64, "packets");
        hop.lost_frames.iter().fold(finding, |told, frame| told.evidence("frame", *frame as f64, "frame"))
    });
    let remarked = (!hop.remarked.is_empty()).then(|| {
        let text = format!("{between} packets are marked anew: {}.", hop.remarked.join("; "));
        Finding::new(FindingKind::Remarking, None, Confidence::High, text)
    });
    let order = (hop.reordered_packets + hop.duplicated_packets > 0).then(|| {
        let (late, twice) = (packets(hop.reordered_packets), packets(hop.duplicated_packets));
        let text = match (hop.reordered_packets, hop.duplicated_packets) {
            (_, 0) => format!("{between} {late} came after later ones of their flow."),
            (0, _) => format!("{between} {twice} came twice."),
            _ => format!("{between} {late} came after later ones of their flow, and {twice} came twice."),
        };
        Finding::new(FindingKind::Loss, None, Confidence::High, text)
    });
    let found = [lost, order, remarked];
    found.into_iter().flatten().chain(of_captures(hop)).collect()
}

/// What two captures are to each other.
fn of_captures(hop: &CapturedHop) -> impl Iterator<Item = Finding> {
    let [from, to] = &hop.captures;
    let between = format!("Between {from} and {to}");
    let all = [
        hop.is_clock_set.then(|| {
            format!("{between} a clock was set while the captures ran: no delay between them is told.")
        }),
        (hop.uncaptured_packets > 0).then(|| {
            let (count, (_, them)) = (packets(hop.uncaptured_packets), they(hop.uncaptured_packets));
            format!("{to} lacks {count} that a capture behind it has: {to} missed {them}, the network did not lose {them}.")
        }),
        (hop.appeared_packets > 0).then(|| {
            let (count, (they, them)) = (packets(hop.appeared_packets), they(hop.appeared_packets));
            format!("{to} has {count} on the way from {from} that {from} lacks: {from} missed {them}, or {they} came from between.")
        }),
        (hop.unjudged_packets > 0).then(|| {
            let (count, (they, _)) = (packets(hop.unjudged_packets), they(hop.unjudged_packets));
            format!("{between} it is not told what became of {count}: {to} did not run when {they} would have passed it.")
        }),
    ];
    all.into_iter().flatten().map(|text| instrument(text, Confidence::High))
}

/// A NAT between them.
fn translated(hop: &CapturedHop) -> Option<Finding> {
    let [from, to] = &hop.captures;
    let flows = match hop.translated_flows {
        0 => return None,
        n => counted(n, "flow", "flows"),
    };
    let text = format!(
        "Between {from} and {to} a NAT rewrites addresses or ports of {flows}, whose packets are matched by what they hold."
    );
    Some(instrument(text, Confidence::High))
}

fn packets(count: u64) -> String {
    counted(count, "packet", "packets")
}

/// Subject and object that stand for so many.
const fn they(count: u64) -> (&'static str, &'static str) {
    if count == 1 { ("it", "it") } else { ("they", "them") }
}
