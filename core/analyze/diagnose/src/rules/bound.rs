//! Detects results that are only lower bounds, because the load ended before the queue was full, or
//! never reached the capacity of the line.
use crate::rules::growth;
use crate::sample::{exceeds_capacity, of_flows};
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Alternative, BoundCause, Certainty, Conclusion, Finding, LowerBound, Metric, Phase, PhaseEnd, Reason,
    Remedy, Run, Series, Statistic,
};
use fathom_units::Direction;

/// Growth from the middle to the last third that exceeds that of a sawtooth: 10 % and 5 ms.
const GROWTH_RATIO: f64 = 1.10;
const GROWTH_S: f64 = 0.005;
/// Share of the time in which the receive window has to limit a load.
const MOST: f64 = 0.5;
/// A smaller increase does not indicate a queue.
const NO_QUEUE_S: f64 = 0.005;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises().filter_map(|rise| growing(view, &rise).or_else(|| unfilled(view, &rise))).collect()
}

/// Whether the phase ended by a limit while latency was still growing.
pub(crate) fn still_growing(view: &View<'_>, rise: &Rise<'_>) -> bool {
    thirds(view, rise).is_some_and(|(middle, last)| {
        let above_idle = |v: f64| v - rise.idle.p50.value;
        rise.phase.end != PhaseEnd::Settled
            && above_idle(last) > GROWTH_RATIO * above_idle(middle)
            && last - middle > GROWTH_S
    })
}

/// Median latency of the middle and of the last third of a phase.
fn thirds(view: &View<'_>, rise: &Rise<'_>) -> Option<(f64, f64)> {
    let curve = growth::curve(view, rise.phase);
    let third = curve.len() / 3;
    let median = |part: &[(f64, f64)]| fathom_stats::median(part.iter().map(|(_, v)| *v));
    Some((median(curve.get(third..2 * third)?)?, median(curve.get(2 * third..)?)?))
}

fn growing(view: &View<'_>, rise: &Rise<'_>) -> Option<Finding> {
    let (middle, last) = thirds(view, rise).filter(|_| still_growing(view, rise))?;
    let cause = BoundCause::StillGrowing { end: rise.phase.end, middle_p50_s: middle, last_p50_s: last };
    let bound = LowerBound { phase: rise.phase.kind, cause };
    let mut finding = Finding::new(Conclusion::LowerBound(bound), None, Certainty::Certain);
    finding.remedies.push(Remedy::LoadLonger);
    Some(finding)
}

/// Whether a load at a chosen rate did not fill the line.
pub(crate) fn is_below_capacity(view: &View<'_>, rise: &Rise<'_>) -> bool {
    view.has_chosen_rate() && is_unfilled(view, rise)
}

/// With a chosen rate, a lossy line is not a full one.
fn is_unfilled(view: &View<'_>, rise: &Rise<'_>) -> bool {
    let exceeds = |direction: &Direction| exceeds_capacity(view.run, *direction, rise.phase);
    let is_lossless = match view.has_chosen_rate() {
        true => !rise.phase.kind.loads().iter().any(exceeds),
        false => view.shows_no_loss(rise.phase),
    };
    rise.p90() < NO_QUEUE_S && is_lossless
}

/// Why an end, and not the line, limited the load of a phase, if one did: packets on a full line
/// wait or are lost. A server with BBR may fill a line that isolates flows without either, so a
/// download shows it only probably, unless the server says that it had nothing to send.
pub(crate) fn limited_by_an_end(view: &View<'_>, rise: &Rise<'_>) -> Option<Reason> {
    if view.has_chosen_rate() {
        return None;
    }
    if had_nothing_to_send(view, rise) {
        return Some(Reason::SenderIdle);
    }
    if !is_unfilled(view, rise) {
        return None;
    }
    let loads = rise.phase.kind.loads().iter();
    let reasons: Option<Vec<Reason>> = loads.map(|d| end_limit(view.run, *d, rise.phase)).collect();
    reasons?.into_iter().next()
}

fn end_limit(run: &Run, direction: Direction, phase: &Phase) -> Option<Reason> {
    let limited = of_flows(run, Metric::FlowReceiverLimited, direction);
    if let Some(limited_ratio) = fathom_stats::median(limited.filter_map(|flow| share_of_time(flow, phase)))
        && limited_ratio >= MOST
    {
        return Some(Reason::ReceiverLimited { direction, limited_ratio });
    }
    let mut counts = values(run, Metric::FlowOutOfOrder, direction, phase).peekable();
    (counts.peek().is_some() && counts.all(|count| count == 0.0)).then_some(Reason::SenderLimited)
}

/// Whether the senders had nothing to send most of the time, as `fathom serve` says: a queue, if
/// there was one, was no longer than what they had. Behind a full line, at least a segment waits.
fn had_nothing_to_send(view: &View<'_>, rise: &Rise<'_>) -> bool {
    let unsent = |direction| values(view.run, Metric::FlowUnsent, direction, rise.phase);
    let is_empty = |d: &Direction| fathom_stats::median(unsent(*d)).is_some_and(|bytes| bytes == 0.0);
    rise.phase.kind.loads().iter().all(is_empty)
}

/// Values of all flows of a direction in a phase.
fn values(run: &Run, metric: Metric, direction: Direction, phase: &Phase) -> impl Iterator<Item = f64> {
    let flows = of_flows(run, metric, direction).flat_map(|flow| flow.within(phase));
    flows.filter_map(|o| o.value.observed())
}

/// Growth of a counter of seconds relative to the time between its first and last value in a phase.
/// A server may send any counter at any time.
fn share_of_time(counter: &Series, phase: &Phase) -> Option<f64> {
    let mut seen = counter.within(phase).filter_map(|o| Some((o.at, o.value.observed()?)));
    let ((from, before), (to, after)) = (seen.next()?, seen.last()?);
    let elapsed_s = to.saturating_since(from).as_secs_f64();
    (elapsed_s > 0.0).then(|| ((after - before) / elapsed_s).clamp(0.0, 1.0))
}

/// Without an increase or losses, nothing shows that the load reached the capacity of the line.
fn unfilled(view: &View<'_>, rise: &Rise<'_>) -> Option<Finding> {
    if !is_unfilled(view, rise) {
        return None;
    }
    let cause = BoundCause::NotReached { increase_p90_s: rise.p90() };
    let bound = LowerBound { phase: rise.phase.kind, cause };
    let is_chosen = view.has_chosen_rate();
    let certainty = if is_chosen { Certainty::Likely } else { Certainty::Possible };
    let finding = Finding::new(Conclusion::LowerBound(bound), None, certainty)
        .with_evidence(view.latency_evidence(rise.phase, Statistic::Percentile(0.9)))
        .or(Alternative::EcnMarking);
    Some(if is_chosen { finding } else { finding.or(Alternative::LoadLimitedElsewhere) })
}
