//! The download falls while the upload's queue delays and drops its acknowledgements.
use crate::health::BLOATED_P50_S;
use crate::view::View;
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_text::{milliseconds, percent, rate};

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
    let text = format!(
        "The upload starves the download: {} instead of {} ({}), because acknowledgements wait {} in the upload's queue.",
        rate(both),
        rate(alone),
        percent(both / alone),
        milliseconds(delayed)
    );
    let confidence = if up.is_some() { Confidence::High } else { Confidence::Medium };
    let finding = Finding::new(FindingKind::AckStarvation, None, confidence, text)
        .evidence("goodput down alone", alone, "bit/s")
        .evidence("goodput down with upload", both, "bit/s")
        .evidence("rise of the delay up", delayed, "s")
        .alternative("Both directions share one medium (Wi-Fi, half duplex).");
    Some(finding)
}
