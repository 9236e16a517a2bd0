//! Explanations of bufferbloat that the run rules out.
//!
//! Other rules examine each of them and would have reported it. Where the data for such a rule is
//! missing, the explanation is not listed.
use crate::health::latest;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{
    Alternative, Conclusion, Evidence, Finding, InstrumentEffect, LatencyIncrease, Metric, PhaseKind,
    SeriesKey, Statistic,
};

/// Idle probes that must all be answered. By the rule of three, less than 6 % of the packets are
/// then lost without load (confidence 95 %), which cannot raise the median of the answered probes.
const MIN_IDLE_PROBES: f64 = 50.0;
/// Lateness (p95) below this share of the increase of the median does not explain it.
const EXPLAINING_SHARE: f64 = 0.1;

/// What is ruled out, and the statistic that does so. Lateness is no series.
type Excluded = (Alternative, Option<Evidence>);

/// Adds to each finding of bufferbloat what the run rules out.
pub(super) fn exclude(view: &View<'_>, findings: &mut [Finding]) {
    let has = |is_it: fn(&Conclusion) -> bool| findings.iter().any(|finding| is_it(&finding.conclusion));
    // The rule of outages examines every phase with load, if it knows when probes were sent.
    let outage = view.has_times() && !has(|conclusion| matches!(conclusion, Conclusion::Outage(_)));
    let lacks_cpu =
        has(|conclusion| matches!(conclusion, Conclusion::Instrument(InstrumentEffect::LackOfCpu { .. })));
    for finding in findings {
        let Conclusion::Bufferbloat(increase) = &finding.conclusion else { continue };
        let all = [
            distance(view),
            idle_loss(view),
            outage.then_some((Alternative::Outage, None)),
            busy_cpu(view, increase).filter(|_| !lacks_cpu),
            late_probes(view, increase),
        ];
        for (alternative, evidence) in all.into_iter().flatten() {
            finding.excluded.push(alternative);
            let new: Vec<Evidence> =
                evidence.into_iter().filter(|one| !finding.evidence.contains(one)).collect();
            finding.evidence.extend(new);
        }
    }
}

/// The increase is calculated from the idle latency, which contains the distance.
fn distance(view: &View<'_>) -> Option<Excluded> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let median = view.latency_evidence(idle, Statistic::Percentile(0.5))?;
    Some((Alternative::LongPath, Some(median)))
}

fn idle_loss(view: &View<'_>) -> Option<Excluded> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let count = view.latency_evidence(idle, Statistic::Count)?.value;
    let lost = view.latency_evidence(idle, Statistic::Lost)?;
    let is_lossless = count >= MIN_IDLE_PROBES && lost.value == 0.0;
    is_lossless.then_some((Alternative::LossWithoutCongestion, Some(lost)))
}

fn busy_cpu(view: &View<'_>, increase: &LatencyIncrease) -> Option<Excluded> {
    let phase = view.run.phase(increase.phase)?;
    let busy = view.evidence(&SeriesKey::of(Metric::CpuBusy), phase, Statistic::Percentile(0.5))?;
    Some((Alternative::LackOfCpu, Some(busy)))
}

fn late_probes(view: &View<'_>, increase: &LatencyIncrease) -> Option<Excluded> {
    let (_, lateness_p95_s) = latest(view)?;
    let increase_s = increase.loaded_p50_s - increase.idle_p50_s;
    (lateness_p95_s < EXPLAINING_SHARE * increase_s).then_some((Alternative::LateProbes, None))
}
