//! What limits the queue: its end (tail drop), or a rule that keeps it short (AQM).
use crate::rules::growth::WORTH_TELLING_S;
use crate::rules::noun;
use crate::view::{Rise, View, alone};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, Run, Value};
use fathom_stats::Sample;
use fathom_text::{milliseconds, percent};
use fathom_units::{Direction, Duration, Time};

/// Losses closer to the top than this share of the queue's height happened to a full queue. A sender learns of a loss
/// one round trip later, when the queue is still about as long.
const TOP: f64 = 0.8;
/// Share of the losses at the top that tells tail drop.
const MOSTLY: f64 = 0.6;
/// Fewer events than this tell no pattern.
const FEWEST_EVENTS: usize = 3;
/// More events than this do not tell more, and each costs a search.
const MOST_EVENTS: usize = 500;
/// How long before an event the latency is looked up: after it the sender has slowed down and the queue is shorter.
const BEFORE: Duration = Duration::from_millis(250);

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|d| finding(view, d)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    // With both directions loaded the round trip belongs to neither.
    let rise = view.rise_of(direction).filter(|r| r.phase.kind == alone(direction))?;
    let events = loss_events(view.run, direction, rise.phase);
    let heights: Vec<f64> =
        events.iter().take(MOST_EVENTS).filter_map(|at| height_at(view, &rise, *at)).collect();
    let at_top =
        heights.iter().filter(|h| **h >= TOP * rise.height()).count() as f64 / heights.len().max(1) as f64;
    let finding = match (rise.p50() < WORTH_TELLING_S, heights.len()) {
        (false, 0) if events.is_empty() => no_losses(view, direction)?,
        (_, 0) => return None,
        (true, _) => kept_short(direction, &rise),
        (false, n) if n >= FEWEST_EVENTS && at_top >= MOSTLY => tail_drop(direction, &rise, at_top),
        _ => return None,
    };
    let low = Sample::new(heights.iter().map(|h| (*h, false))).percentile(0.5);
    Some(
        finding
            .evidence("moments with retransmissions", events.len() as f64, "1")
            .evidence_if("added delay at these moments, median", low.map(|l| l.value), "s")
            .evidence("added delay, 95th percentile", rise.height(), "s"),
    )
}

fn kept_short(direction: Direction, rise: &Rise<'_>) -> Finding {
    let text = format!(
        "The {}'s queue is kept short: packets are dropped while it adds only {}.",
        noun(direction),
        milliseconds(rise.p50().max(0.0))
    );
    Finding::new(FindingKind::Management, Some(direction), Confidence::Medium, text)
        .alternative("A buffer that is small, without a rule.")
        .alternative("Loss that has nothing to do with a queue, as on radio links.")
}

fn tail_drop(direction: Direction, rise: &Rise<'_>, at_top: f64) -> Finding {
    let text = format!(
        "The {}'s queue drops only when it is full: {} losses came within the top fifth of its height of {}.",
        noun(direction),
        if at_top > 0.995 { "all".into() } else { format!("{} of the", percent(at_top)) },
        milliseconds(rise.height())
    );
    Finding::new(FindingKind::Management, Some(direction), Confidence::Medium, text)
        .alternative("A rule that starts to drop only at this height.")
}

/// Only said where retransmissions were watched.
fn no_losses(view: &View<'_>, direction: Direction) -> Option<Finding> {
    view.run.series.iter().find(|s| s.key.metric == Metric::FlowRetransmits)?;
    let text = format!(
        "The {}'s queue never dropped: the buffer is larger than what this load put into it.",
        noun(direction)
    );
    let finding = Finding::new(FindingKind::Management, Some(direction), Confidence::Low, text)
        .alternative("The sender was held back by a window before the buffer was full.")
        .alternative("The line marks packets (ECN) instead of dropping them.");
    Some(finding)
}

/// Times at which the retransmission counter of a flow of this direction had grown.
pub(super) fn loss_events(run: &Run, direction: Direction, phase: &Phase) -> Vec<Time> {
    let of_direction = |s: &&fathom_run::Series| {
        s.key.metric == Metric::FlowRetransmits && s.key.direction == Some(direction)
    };
    let mut times = Vec::new();
    for series in run.series.iter().filter(of_direction) {
        let mut before = None;
        for o in series.within(phase) {
            if let Value::Observed(count) = o.value {
                if before.is_some_and(|b| count > b) {
                    times.push(o.at);
                }
                before = Some(count);
            }
        }
    }
    times
}

/// Added delay just before `at`: the median of the probes sent then.
fn height_at(view: &View<'_>, rise: &Rise<'_>, at: Time) -> Option<f64> {
    let before = view.source?.between(at.saturating_sub(BEFORE), at);
    let median = Sample::new(before.map(|o| crate::view::pair(o.value))).percentile(0.5)?;
    Some(median.value - rise.idle.p50.value)
}
