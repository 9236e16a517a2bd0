//! Which protocols repeat their requests or stop at the latency under load.
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, ExceededTimers, Finding, PhaseKind, ProtocolTimer, Statistic, TimerScope,
};

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let longest = view.rises().max_by(|a, b| rtt_p95_s(a).total_cmp(&rtt_p95_s(b)));
    longest.and_then(|rise| of_rise(view, &rise)).into_iter().collect()
}

/// Without the start-up of the load, which most requests do not meet.
fn rtt_p95_s(rise: &Rise<'_>) -> f64 {
    rise.loaded.p95.value
}

fn of_rise(view: &View<'_>, rise: &Rise<'_>) -> Option<Finding> {
    let finding = of_delay(rise.phase.kind, rtt_p95_s(rise))?;
    Some(finding.with_evidence(view.latency_evidence(rise.phase, Statistic::Percentile(0.95))))
}

/// Which protocols do so at this 95th percentile of the round trip.
pub(crate) fn of_delay(phase: PhaseKind, rtt_p95_s: f64) -> Option<Finding> {
    let timers: Vec<_> = ProtocolTimer::exceeded(rtt_p95_s, Some(TimerScope::Internet)).collect();
    let found = ExceededTimers { phase, rtt_p95_s, timers };
    (!found.timers.is_empty())
        .then(|| Finding::new(Conclusion::ExceededTimers(found), None, Certainty::Certain))
}
