//! Time that the queue takes to drain after the load.
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, DrainTime, Finding, PhaseKind, Value};

/// A queue counts as empty below this share of its height, or below 10 ms.
const EMPTY: f64 = 0.1;
const EMPTY_S: f64 = 0.010;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let drain = view.run.phase(PhaseKind::Drain)?;
    let before = view.rises().filter(|r| r.phase.end_ns <= drain.start_ns).last();
    let before: Rise<'_> = before.filter(|r| r.p90() >= REPORTED_INCREASE_S)?;
    let threshold_s = before.idle.p50.value + (EMPTY * before.height()).max(EMPTY_S);
    let empty_at = view.latency_in(drain).find(|o| matches!(o.value, Value::Observed(v) if v <= threshold_s));
    let drain_s = empty_at.map_or(drain.seconds(), |o| (o.at.as_nanos() - drain.start_ns) as f64 / 1e9);
    let time = DrainTime { drain_s, is_empty: empty_at.is_some(), threshold_s };
    Some(Finding::new(Conclusion::DrainTime(time), None, Certainty::Likely))
}
