//! Scores of other documents and tools, computed from the summaries of a run.
use crate::{PhaseSummary, ProbeStatistics};
use alloc::vec::Vec;
use fathom_run::{
    Aim, BUFFER_DELAY, Metric, Missing, Phase, PhaseEnd, PhaseKind, Requirement, Run, Score, Series,
    TCP_EFFICIENCY, buffer_delay_percent, tcp_efficiency_percent,
};
use fathom_stats::{Bounded, Summary};

/// Probes whose loss is that of a packet.
const DATAGRAMS: [Metric; 3] = [Metric::UdpRtt, Metric::IcmpRtt, Metric::DnsRtt];
/// Payload of a TCP segment on Ethernet, with timestamps, in bytes (RFC 7323, IPv4).
const SEGMENT_BYTES: f64 = 1448.0;

/// All scores of a test: those of each phase, then those of the whole. `probes` are those that
/// latency is of.
pub(crate) fn of_test(run: &Run, phases: &[PhaseSummary], probes: Option<&ProbeStatistics>) -> Vec<Score> {
    let rate = line_rate(phases);
    let idle = phases.iter().find(|phase| phase.kind == PhaseKind::Idle);
    let knows_loss = probes.is_some_and(|probes| DATAGRAMS.contains(&probes.metric));
    let mut scores = Vec::new();
    for (phase, summary) in run.phases.iter().zip(phases).filter(|(phase, _)| phase.kind != PhaseKind::Drain)
    {
        let mut add = |name, result: Result<f64, Missing>, class, definition| {
            let (value, missing) = (result.ok(), result.err());
            scores.push(Score { name, phase: Some(phase.kind), value, missing, class, definition });
        };
        for requirement in &Requirement::ALL {
            add(
                requirement.name,
                outcome(requirement, summary, rate, knows_loss),
                None,
                requirement.definition,
            );
        }
        if phase.kind.is_loaded() {
            add("buffer_delay_percent", buffer_delay(summary, idle), None, BUFFER_DELAY);
            add("tcp_efficiency_percent", efficiency(run, phase), None, TCP_EFFICIENCY);
        }
        if let Some(rpm) = &summary.rpm {
            add("responsiveness_rpm", Ok(rpm.per_minute), Some(confidence(summary)), rpm.method);
        }
    }
    let aim = aim(phases, idle, probes, knows_loss);
    let values = aim.as_ref().map(Aim::scores).map_err(|missing| *missing);
    for (number, name) in
        ["aim_streaming_points", "aim_gaming_points", "aim_rtc_points"].into_iter().enumerate()
    {
        let (value, class) =
            values.ok().map_or((None, None), |all| (Some(all[number].1), Some(all[number].2)));
        let missing = values.err();
        scores.push(Score { name, phase: None, value, missing, class, definition: Aim::DEFINITION });
    }
    scores
}

/// Time in which the draft of responsiveness can find stability: MAD (4) intervals of 1 s.
const STABLE_S: f64 = 4.0;

/// Confidence of responsiveness, with the phase's own end for the draft's stability.
fn confidence(phase: &PhaseSummary) -> &'static str {
    match phase.end {
        PhaseEnd::Settled => "high",
        _ if phase.duration_s >= STABLE_S => "medium",
        _ => "low",
    }
}

/// The lower of the rates of the directions, each loaded alone if there is such a phase.
fn line_rate(phases: &[PhaseSummary]) -> Option<f64> {
    let rate = |of: fn(&PhaseSummary) -> Option<f64>| phases.iter().filter_map(of).max_by(f64::total_cmp);
    Some(rate(|p| p.goodput_up_bits_per_second)?.min(rate(|p| p.goodput_down_bits_per_second)?))
}

/// The percentile of a summary for a share of 0.5, 0.9, 0.95 or 0.99.
fn percentile(latency: &Summary, share: f64) -> Bounded {
    match share {
        s if s <= 0.5 => latency.p50,
        s if s <= 0.9 => latency.p90,
        s if s <= 0.95 => latency.p95,
        _ => latency.p99,
    }
}

fn outcome(
    requirement: &Requirement,
    phase: &PhaseSummary,
    rate: Option<f64>,
    knows_loss: bool,
) -> Result<f64, Missing> {
    let (latency, loss) = phase.latency.as_ref().zip(phase.loss_ratio).ok_or(Missing::Probes)?;
    let shares = || requirement.latency_s.iter().map(|(share, _, _)| *share);
    // At least one probe must be above each percentile.
    if shares().any(|share| (latency.count as f64) * (1.0 - share) < 1.0 - 1e-9) {
        return Err(Missing::Probes);
    }
    if requirement.loss_ratio.is_some() && !knows_loss {
        return Err(Missing::Loss);
    }
    let rate = if requirement.bits_per_second > 0.0 { rate.ok_or(Missing::Rates)? } else { 0.0 };
    let percent = requirement.percent(|share| percentile(latency, share).value, loss, rate);
    // With a lower bound of latency, only the worst score is certain.
    let is_bound = shares().any(|share| percentile(latency, share).at_least);
    if is_bound && percent > 0.0 { Err(Missing::Responses) } else { Ok(percent) }
}

fn buffer_delay(phase: &PhaseSummary, idle: Option<&PhaseSummary>) -> Result<f64, Missing> {
    let baseline_s = idle.and_then(|idle| idle.latency).map(|latency| latency.min.value);
    let baseline_s = baseline_s.filter(|seconds| *seconds > 0.0).ok_or(Missing::IdleLatency)?;
    let mean_s = phase.latency.and_then(|latency| latency.mean_of_observed).ok_or(Missing::Probes)?;
    Ok(buffer_delay_percent(mean_s, baseline_s))
}

fn efficiency(run: &Run, phase: &Phase) -> Result<f64, Missing> {
    let load = phase.load.as_ref().ok_or(Missing::Retransmissions)?;
    let delivered = load.delivered_up_bytes as f64 + load.delivered_down_bytes as f64;
    let mut retransmitted = 0.0;
    for direction in phase.kind.loads() {
        let counters = run.series.iter().filter(|series| {
            series.key.metric == Metric::FlowRetransmits && series.key.direction == Some(*direction)
        });
        let grown: Vec<f64> = counters.filter_map(|series| grown(series, phase)).collect();
        if grown.is_empty() {
            return Err(Missing::Retransmissions);
        }
        retransmitted += grown.iter().sum::<f64>() * SEGMENT_BYTES;
    }
    let transmitted = delivered + retransmitted;
    if transmitted > 0.0 {
        Ok(tcp_efficiency_percent(transmitted, retransmitted))
    } else {
        Err(Missing::Rates)
    }
}

/// Growth of a counter within a phase; its flows start with the phase.
fn grown(counter: &Series, phase: &Phase) -> Option<f64> {
    counter.within(phase).filter_map(|o| o.value.observed()).reduce(f64::max)
}

fn aim(
    phases: &[PhaseSummary],
    idle: Option<&PhaseSummary>,
    probes: Option<&ProbeStatistics>,
    knows_loss: bool,
) -> Result<Aim, Missing> {
    let latency_s = idle.and_then(|idle| idle.latency).ok_or(Missing::IdleLatency)?.p50.value;
    let jitter_s =
        probes.and_then(|probes| probes.phases.iter().find(|p| p.kind == PhaseKind::Idle)?.jitter_s);
    let alone = |kind| phases.iter().find(|phase| phase.kind == kind);
    let (down, up) = alone(PhaseKind::Down).zip(alone(PhaseKind::Up)).ok_or(Missing::Rates)?;
    let median = |phase: &PhaseSummary| phase.latency.map(|latency| latency.p50).ok_or(Missing::Probes);
    let (first, second) = (median(down)?, median(up)?);
    if first.at_least || second.at_least {
        return Err(Missing::Responses);
    }
    Ok(Aim {
        latency_s,
        jitter_s: jitter_s.ok_or(Missing::Probes)?,
        increase_s: first.value.max(second.value) - latency_s,
        loss_ratio: idle.and_then(|idle| idle.loss_ratio).filter(|_| knows_loss),
        down_bits_per_second: down.goodput_down_bits_per_second.ok_or(Missing::Rates)?,
    })
}
