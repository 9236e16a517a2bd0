//! Latency under load beside idle latency, and in which direction it rose.
use crate::health::is_bloated;
use crate::rules::{doing, noun};
use crate::view::{Rise, View};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_text::{milliseconds, percent};
use fathom_units::Direction;

/// Share of the rise that one direction must have to be named alone.
const ONE_SIDED: f64 = 0.7;
/// A rise too small to be divided among directions.
const SMALL_S: f64 = 0.010;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().map(|rise| finding(&rise)).collect()
}

fn finding(rise: &Rise<'_>) -> Finding {
    let bloated = is_bloated(rise);
    let kind = if bloated { FindingKind::Bufferbloat } else { FindingKind::LowLatency };
    let place = place(rise);
    let loaded = rise.loaded;
    let text = format!(
        "{} {} latency from {} to {} in the middle, {} for one probe in ten, {} at worst.{}",
        doing(rise.phase.kind),
        if bloated { "raises" } else { "takes" },
        milliseconds(rise.idle.p50.value),
        milliseconds(loaded.p50.value),
        milliseconds(loaded.p90.value),
        milliseconds(loaded.max.value),
        place.text,
    );
    let finding = Finding::new(kind, place.direction, place.confidence, text)
        .evidence("idle latency, median", rise.idle.p50.value, "s")
        .evidence("working latency, median", loaded.p50.value, "s")
        .evidence("working latency, 90th percentile", loaded.p90.value, "s")
        .evidence("working latency, largest", loaded.max.value, "s")
        .evidence("probes answered", loaded.count as f64, "packets")
        .evidence_if("rise of one-way delay up, median", rise.summary.increase_up_s, "s")
        .evidence_if("rise of one-way delay down, median", rise.summary.increase_down_s, "s");
    if bloated && place.confidence < Confidence::High {
        finding.alternative("The queue may be in the other direction: one-way delays were not measured.")
    } else {
        finding
    }
}

struct Place {
    direction: Option<Direction>,
    confidence: Confidence,
    text: String,
}

/// In which direction the packets wait: by one-way delays, or else by what was loaded.
fn place(rise: &Rise<'_>) -> Place {
    let loaded = match rise.phase.kind {
        PhaseKind::Up => Some(Direction::Up),
        PhaseKind::Down => Some(Direction::Down),
        _ => None,
    };
    let (Some(up), Some(down)) = (rise.summary.increase_up_s, rise.summary.increase_down_s) else {
        return Place { direction: loaded, confidence: Confidence::Medium, text: String::new() };
    };
    let (up, down) = (up.max(0.0), down.max(0.0));
    if up + down < SMALL_S {
        return Place { direction: loaded, confidence: Confidence::High, text: String::new() };
    }
    let share = up / (up + down);
    let found = match share {
        s if s >= ONE_SIDED => Some(Direction::Up),
        s if s <= 1.0 - ONE_SIDED => Some(Direction::Down),
        _ => None,
    };
    Place { direction: found, confidence: Confidence::High, text: place_text(found, loaded, share) }
}

fn place_text(found: Option<Direction>, loaded: Option<Direction>, share_up: f64) -> String {
    let Some(found) = found else {
        return format!(" {} of the rise is on the way up, the rest on the way down.", percent(share_up));
    };
    let share = if found == Direction::Up { share_up } else { 1.0 - share_up };
    let surprise = match loaded {
        Some(loaded) if loaded != found => {
            format!(", although the load was the {}: its acknowledgements queue there", noun(loaded))
        }
        _ => String::new(),
    };
    let share = if share > 0.995 { "All".into() } else { percent(share) };
    format!(" {share} of the rise is on the way {found}{surprise}.")
}
