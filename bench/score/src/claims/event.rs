//! Outages, lost probes, and traffic of others.
use super::{Case, Claim, ClaimKind, Made};
use crate::truth::PhaseTruth;
use fathom_run::Conclusion;

/// Shorter outages are not worth a claim, in seconds. A claim is wrong below half of that.
const OUTAGE_S: f64 = 1.0;
/// Share of lost probes, and number, that is worth a claim.
const LOSS: f64 = 0.02;
const MIN_LOST: usize = 5;
/// A claimed number of losses may differ by this share of the truth, or this many.
const LOSS_RATIO: f64 = 0.1;
const LOSS_COUNT: f64 = 2.0;

pub(super) fn claims(case: &Case<'_>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = case.truth.loaded.iter().map(|phase| outage(case, phase)).collect();
    let phases = &case.measured.run.phases;
    claims.extend(phases.iter().filter_map(|phase| {
        let span = (phase.start_ns as f64 / 1e9, phase.end_ns as f64 / 1e9);
        loss(case, phase.kind, span)
    }));
    claims.push(filler(case));
    claims
}

/// Whether others filled a queue before the load.
fn filler(case: &Case<'_>) -> Claim {
    let has_others = !case.measured.plan.workloads.is_empty();
    let mut found = case.findings(|conclusion| match conclusion {
        Conclusion::OtherTraffic(traffic) => Some(traffic),
        _ => None,
    });
    let made = found.next().map(|(finding, traffic)| {
        let detail = format!("{:.3} s for {:.3} s", traffic.p50_s - traffic.min_s, case.truth.idle_p50_s);
        Made::new(has_others, Some(finding.certainty), detail)
    });
    Claim::new(ClaimKind::Filler, has_others && case.truth.is_idle_bloated, made)
}

fn outage(case: &Case<'_>, phase: &PhaseTruth) -> Claim {
    let gaps = case.truth.queues.iter().filter_map(|queue| queue.longest_gap(phase.from_s, phase.to_s));
    let (longest_s, _) = gaps.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    let found = case
        .findings(|conclusion| match conclusion {
            Conclusion::Outage(outage) => Some(outage),
            _ => None,
        })
        .find(|(_, outage)| outage.phase == phase.kind);
    let made = found.map(|(finding, outage)| Made {
        is_right: longest_s >= OUTAGE_S / 2.0,
        error: (longest_s >= OUTAGE_S).then(|| outage.longest_s / longest_s - 1.0),
        certainty: Some(finding.certainty),
        detail: format!("{:.2} s for {longest_s:.2} s", outage.longest_s),
    });
    Claim::new(ClaimKind::Outage, longest_s >= OUTAGE_S, made).about(phase.kind.name())
}

fn loss(case: &Case<'_>, kind: fathom_run::PhaseKind, (from_s, to_s): (f64, f64)) -> Option<Claim> {
    let lost = case.truth.lost_probes.as_ref()?.iter().filter(|at| (from_s..to_s).contains(*at)).count();
    let found = case.findings(|conclusion| match conclusion {
        Conclusion::ProbeLoss(loss) => Some(loss),
        _ => None,
    });
    let found: Vec<_> = found.filter(|(_, loss)| loss.phase == kind).collect();
    let sent = case.measured.plan.run.sample_every.as_secs_f64().recip() * (to_s - from_s);
    let is_possible = lost >= MIN_LOST && lost as f64 >= LOSS * sent;
    let made = found.first().map(|(finding, _)| {
        let claimed: u64 = found.iter().map(|(_, loss)| loss.lost_packets).sum();
        let difference = (claimed as f64 - lost as f64).abs();
        let detail = format!("{claimed} of {sent:.0} probes for {lost}");
        Made::new(difference <= (LOSS_RATIO * lost as f64).max(LOSS_COUNT), Some(finding.certainty), detail)
    });
    Some(Claim::new(ClaimKind::Loss, is_possible, made).about(kind.name()))
}
