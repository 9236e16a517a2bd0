//! The download falls while the upload's queue delays and drops its acknowledgements.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::threshold::BLOATED_P50_S;
use fathom_run::{AckStarvation, Alternative, Certainty, Conclusion, Finding, PhaseKind};

/// Share of its goodput alone below which a download starves. Sharing costs the acknowledgements of the upload, a few
/// percent of the line down.
const STARVED: f64 = 0.6;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let goodput = |kind| view.phases.iter().find(|p| p.kind == kind)?.goodput_down_bits_per_second;
    let (alone, both) = (goodput(PhaseKind::Down)?, goodput(PhaseKind::Both)?);
    let rise = view.rises().find(|r| r.phase.kind == PhaseKind::Both)?;
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
