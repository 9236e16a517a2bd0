//! Distinguishes tail drop from an AQM that keeps the queue short.
use crate::sample::{alone, loss_events, pair, records_losses};
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{Alternative, Certainty, Conclusion, Finding, Management, ManagementRule};
use fathom_stats::Sample;
use fathom_units::{Direction, Duration, Time};

/// Losses above this share of the queue's height count as losses at a full queue. The sender
/// detects a loss one round trip later, when the queue still has about the same length.
const TOP: f64 = 0.8;
/// Minimum share of losses at a full queue that indicates tail drop.
const MOSTLY: f64 = 0.6;
/// Fewer events show no pattern.
const MIN_EVENTS: usize = 3;
/// More events add no information, and each requires a search.
const MAX_EVENTS: usize = 500;
/// Latency is taken this long before an event, because the queue shrinks afterwards.
const BEFORE: Duration = Duration::from_millis(250);

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|d| finding(view, d)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    // With both directions loaded, the round trip does not belong to either.
    let rise = view.rise_of(direction).filter(|r| r.phase.kind == alone(direction))?;
    let events = loss_events(view.run, direction, rise.phase);
    let heights: Vec<f64> =
        events.iter().take(MAX_EVENTS).filter_map(|at| height_at(view, &rise, *at)).collect();
    let top_ratio =
        heights.iter().filter(|h| **h >= TOP * rise.height()).count() as f64 / heights.len().max(1) as f64;
    let rule = match (rise.p50() < REPORTED_INCREASE_S, heights.len()) {
        (false, 0) if events.is_empty() && records_losses(view.run) => ManagementRule::NeverDropped,
        (_, 0) => return None,
        (true, _) => ManagementRule::KeptShort,
        (false, n) if n >= MIN_EVENTS && top_ratio >= MOSTLY => ManagementRule::TailDrop,
        _ => return None,
    };
    let delay_at_loss = Sample::new(heights.iter().map(|h| (*h, false))).percentile(0.5);
    let management = Management {
        rule,
        loss_count: events.len() as u64,
        mark_packets: 0,
        episode_count: None,
        delay_at_loss: None,
        delay_at_loss_p50_s: delay_at_loss.map(|p50| p50.value),
        delay_p50_s: Some(rise.p50()),
        delay_p95_s: Some(rise.height()),
        top_ratio: (!heights.is_empty()).then_some(top_ratio),
    };
    Some(with_alternatives(Conclusion::QueueManagement(management), rule, direction))
}

fn with_alternatives(conclusion: Conclusion, rule: ManagementRule, direction: Direction) -> Finding {
    let (certainty, alternatives): (_, &[Alternative]) = match rule {
        ManagementRule::KeptShort => {
            (Certainty::Likely, &[Alternative::SmallBuffer, Alternative::LossWithoutCongestion])
        }
        ManagementRule::NeverDropped => {
            (Certainty::Possible, &[Alternative::WindowLimited, Alternative::EcnMarking])
        }
        _ => (Certainty::Likely, &[Alternative::ManagedAtThisLength]),
    };
    alternatives.iter().cloned().fold(Finding::new(conclusion, Some(direction), certainty), Finding::or)
}

/// Added delay just before `at`: the median of the probes sent then.
fn height_at(view: &View<'_>, rise: &Rise<'_>, at: Time) -> Option<f64> {
    let before = view.source?.between(at.saturating_sub(BEFORE), at);
    let median = Sample::new(before.map(|o| pair(o.value))).percentile(0.5)?;
    Some(median.value - rise.idle.p50.value)
}
