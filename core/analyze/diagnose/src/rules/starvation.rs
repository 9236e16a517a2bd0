//! Detects downloads that are slow because their ACKs are delayed or dropped in the upload's queue.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::threshold::BLOATED_P50_S;
use fathom_run::{AckStarvation, Alternative, Certainty, Conclusion, Finding, PhaseKind};

/// A download starves below this share of its goodput without upload. Sharing the downlink with the
/// upload's acknowledgments costs only a few percent.
const STARVED: f64 = 0.6;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let goodput = |kind| view.phases.iter().find(|p| p.kind == kind)?.goodput_down_bits_per_second;
    let (alone, both) = (goodput(PhaseKind::Down)?, goodput(PhaseKind::Both)?);
    let mut rises = view.rises().filter(|_| !view.has_datagrams());
    let rise = rises.find(|r| r.phase.kind == PhaseKind::Both)?;
    let up = rise.summary.increase_up_s;
    let delayed = up.unwrap_or(rise.p50());
    if both >= STARVED * alone || delayed < BLOATED_P50_S {
        return None;
    }
    let certainty = if up.is_some() { Certainty::Certain } else { Certainty::Likely };
    let starvation =
        AckStarvation { alone_bits_per_second: alone, loaded_bits_per_second: both, ack_delay_s: delayed };
    let finding =
        Finding::new(Conclusion::AckStarvation(starvation), None, certainty).or(Alternative::SharedMedium);
    Some(finding)
}
