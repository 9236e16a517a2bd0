//! Whether the line is bloated, in which direction, and by how much.
use super::{Case, Claim, ClaimKind, Made, Tolerance, quantity};
use crate::truth::PhaseTruth;
use fathom_diagnose::Health;
use fathom_run::{Certainty, Conclusion, Finding, LatencyIncrease};
use fathom_units::Direction;

/// 2 % or 5 ms on a radio link, which takes milliseconds to get access to the medium without any
/// queue.
const RADIO: Tolerance = Tolerance { ratio: 0.02, least: 0.005 };
/// A maximum seen by probes is right between this percentile and the true maximum: the worst moment
/// falls between probes, and a full buffer drops them.
pub(crate) const MAX_SEEN: f64 = 0.99;
/// Directions whose delays differ by less than this, in seconds, are equally bloated.
const MIN_DIFFERENCE_S: f64 = 0.005;

pub(super) fn claims(case: &Case<'_>) -> Vec<Claim> {
    let mut claims = vec![bloat(case)];
    for phase in &case.truth.loaded {
        let found = increases(case).find(|(_, increase)| increase.phase == phase.kind);
        claims.push(direction(case, phase, found));
        claims.extend(delays(case, phase, found));
    }
    claims
}

fn increases<'c>(case: &'c Case<'_>) -> impl Iterator<Item = (&'c Finding, &'c LatencyIncrease)> {
    case.findings(|conclusion| match conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => Some(increase),
        _ => None,
    })
}

/// The verdict. Lines too close to the threshold are left out: see [`Truth::is_borderline`].
///
/// [`Truth::is_borderline`]: crate::truth::Truth::is_borderline
fn bloat(case: &Case<'_>) -> Claim {
    let is_clear = !case.truth.is_borderline();
    let health = case.diagnosis.health;
    let is_made = matches!(health, Health::Bloated | Health::Healthy);
    let truth = case.truth.is_bloated();
    let certainty = increases(case).map(|(finding, _)| finding.certainty).max();
    let made = (is_clear && is_made).then(|| {
        let delays: Vec<String> = case
            .truth
            .loaded
            .iter()
            .map(|p| format!("p50 {:.3} s, p90 {:.3} s", increase(case, p, 0.5), increase(case, p, 0.9)))
            .collect();
        let is_right = (health == Health::Bloated) == truth;
        Made::new(is_right, certainty, format!("{health:?} for {}", delays.join("; ")))
    });
    Claim::new(ClaimKind::Bloat, is_clear, made)
}

fn increase(case: &Case<'_>, phase: &PhaseTruth, percentile: f64) -> f64 {
    case.truth.increase_s(phase, percentile)
}

fn direction(case: &Case<'_>, phase: &PhaseTruth, found: Option<(&Finding, &LatencyIncrease)>) -> Claim {
    let [up, down] = Direction::BOTH.map(|d| phase.one_way(d).at(0.5));
    let truth = if up > down { Direction::Up } else { Direction::Down };
    let is_clear = (up - down).abs() >= MIN_DIFFERENCE_S && case.truth.is_phase_bloated(phase);
    let claimed = found.and_then(|(finding, _)| Some((finding.direction?, finding.certainty)));
    let made = claimed.filter(|_| is_clear).map(|(claimed, certainty)| {
        let detail = format!("{claimed} for {up:.3} s up, {down:.3} s down");
        Made::new(claimed == truth, Some(certainty), detail)
    });
    Claim::new(ClaimKind::Direction, is_clear, made).about(phase.kind.name())
}

fn delays(case: &Case<'_>, phase: &PhaseTruth, found: Option<(&Finding, &LatencyIncrease)>) -> [Claim; 3] {
    let p95 = case.diagnosis.phases.iter().find(|p| p.kind == phase.kind).and_then(|p| Some(p.latency?.p95));
    let tolerance = if case.truth.has_radio { RADIO } else { Tolerance::DELAY };
    let steady_s = steady_from_s(case, phase);
    let claim = |kind, claimed: Option<(f64, bool)>, [least_s, truth_s]: [f64; 2]| {
        let made = claimed.zip(found).map(|((loaded_s, is_bound), (finding, increase))| {
            let added_s = loaded_s - increase.idle_p50_s;
            let [least_s, most_s] = [least_s, truth_s].map(|delay_s| delay_s - case.truth.idle_p50_s);
            let certainty = if increase.is_approximate {
                Certainty::Likely.min(finding.certainty)
            } else {
                finding.certainty
            };
            quantity((added_s, is_bound), added_s.clamp(least_s, most_s), tolerance, certainty, "s")
        });
        Claim::new(kind, true, made).about(phase.kind.name())
    };
    let of = |pick: fn(&LatencyIncrease) -> f64| found.map(|(_, i)| (pick(i), i.is_lower_bound));
    let is_bound = found.is_some_and(|(_, i)| i.is_lower_bound);
    let max_s = phase.range(phase.from_s, 1.0)[1] + case.truth.reorder_s;
    [
        claim(ClaimKind::DelayP50, of(|i| i.loaded_p50_s), phase.range(steady_s, 0.5)),
        claim(
            ClaimKind::DelayP95,
            p95.map(|p95| (p95.value, p95.at_least || is_bound)),
            phase.range(phase.from_s, 0.95),
        ),
        claim(
            ClaimKind::DelayMax,
            found.map(|(_, i)| (i.loaded_max_s, i.is_lower_bound || i.is_max_lower_bound)),
            [phase.range(steady_s, MAX_SEEN)[0], max_s],
        ),
    ]
}

/// End of the start-up, if the diagnosis reports one: its percentiles under load exclude the
/// start-up.
fn steady_from_s(case: &Case<'_>, phase: &PhaseTruth) -> f64 {
    let mut starts = case.findings(|conclusion| match conclusion {
        Conclusion::StartUp(start) => Some(start),
        _ => None,
    });
    let of_phase = starts.find(|(_, start)| start.phase == phase.kind);
    phase.from_s + of_phase.map_or(0.0, |(_, start)| start.duration_s)
}
