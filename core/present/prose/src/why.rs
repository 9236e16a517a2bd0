//! The findings as an engineer reads them: ranked, and those about one queue in one entry.
use crate::alternative::excluded_name;
use crate::finding::about;
use crate::phase::while_doing;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::{
    Alternative, BoundCause, Certainty, Conclusion, Finding, InstrumentEffect, LatencyIncrease, Management,
    ManagementRule, Run,
};
use fathom_text::{milliseconds, percent};
use fathom_units::Direction;

/// An entry of the list.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// One or two sentences.
    pub text: String,
    /// The lowest certainty of its findings.
    pub certainty: Certainty,
    /// Its findings, the weightiest first.
    pub findings: Vec<Finding>,
}

/// The findings of a run, the most important first.
pub fn reasons(run: &Run, diagnosis: &Diagnosis) -> Vec<Reason> {
    let mut rest: Vec<&Finding> = diagnosis.findings.iter().collect();
    rest.sort_by_key(|finding| rank(finding, diagnosis));
    let mut reasons = Vec::new();
    while !rest.is_empty() {
        let first = rest.remove(0);
        let mut text = crate::finding(first, run.capture.as_deref());
        let mut findings = Vec::from([first.clone()]);
        if let Some((at, rule)) = rule_of(first, &rest) {
            text = format!("{text} {rule}");
            findings.push(rest.remove(at).clone());
        }
        // One entry for the phases of which the same is said.
        rest.retain(|other| {
            let is_same = is_same_but_phase(first, other);
            if is_same {
                findings.push((*other).clone());
            }
            !is_same
        });
        if findings.len() > 1 {
            text = match &first.conclusion {
                Conclusion::LowLatency(_) => low_latencies(&findings),
                Conclusion::ProbeLoss(_) => losses(&findings, first.direction),
                _ => text,
            };
        }
        let certainty = findings.iter().map(|found| found.certainty).min().unwrap_or(first.certainty);
        reasons.push(Reason { text, certainty, findings });
    }
    // Without a queue no finding says why none was located.
    let unlocated = run.capture.iter().filter(|capture| capture.queues.is_empty());
    let unlocated = unlocated.flat_map(|capture| &capture.unknown).map(|unknown| Reason {
        text: crate::unknown(unknown),
        certainty: Certainty::Likely,
        findings: Vec::new(),
    });
    unlocated.chain(reasons).collect()
}

fn is_same_but_phase(first: &Finding, other: &Finding) -> bool {
    match (&first.conclusion, &other.conclusion) {
        (Conclusion::LowLatency(_), Conclusion::LowLatency(_)) => true,
        (Conclusion::ProbeLoss(_), Conclusion::ProbeLoss(_)) => first.direction == other.direction,
        _ => false,
    }
}

/// Low latency in several phases.
fn low_latencies(findings: &[Finding]) -> String {
    let increases: Vec<_> = findings
        .iter()
        .filter_map(|finding| match &finding.conclusion {
            Conclusion::LowLatency(increase) => Some(increase),
            _ => None,
        })
        .collect();
    let phase = |increase: &&LatencyIncrease| {
        let (median, p90) = (milliseconds(increase.loaded_p50_s), milliseconds(increase.loaded_p90_s));
        format!("{}{median} (median), {p90} (p90) {}", about(increase), while_doing(increase.phase))
    };
    let idle = increases.first().map_or(0.0, |increase| increase.idle_p50_s);
    let all: Vec<String> = increases.iter().map(phase).collect();
    format!("Latency stays low: {}. Idle it is {} (median).", all.join("; "), milliseconds(idle))
}

/// Loss in several phases.
fn losses(findings: &[Finding], direction: Option<Direction>) -> String {
    let phases = findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::ProbeLoss(loss) => Some(format!(
            "{} {}",
            percent(loss.lost_packets as f64 / loss.sent_packets.max(1) as f64),
            while_doing(loss.phase)
        )),
        _ => None,
    });
    let phases: Vec<String> = phases.collect();
    let link = match direction {
        Some(Direction::Up) => " on the uplink",
        Some(Direction::Down) => " on the downlink",
        None => "",
    };
    format!("Probes are lost{link}: {}.", phases.join(", "))
}

/// How the queue of a buffer is managed, and which of the findings says so.
fn rule_of(buffer: &Finding, findings: &[&Finding]) -> Option<(usize, &'static str)> {
    let Conclusion::BufferSize(size) = &buffer.conclusion else { return None };
    findings.iter().enumerate().find_map(|(at, finding)| match &finding.conclusion {
        Conclusion::QueueManagement(Management { rule, .. }) if finding.direction == buffer.direction => {
            match rule {
                ManagementRule::TailDrop if !size.is_lower_bound => {
                    Some((at, "Packets are dropped only when it is full: tail drop, no AQM."))
                }
                ManagementRule::NeverDropped => Some((at, "It never dropped a packet.")),
                _ => None,
            }
        }
        _ => None,
    })
}

/// The direction that the headline is about: where most of its delay is, else what its phase loads.
fn headline_direction(diagnosis: &Diagnosis) -> Option<Direction> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) if Some(increase.phase) == diagnosis.headline_phase => {
            finding.direction
        }
        _ => None,
    })
}

/// Place of a finding in the list. What explains the headline comes first, then what the reader can
/// act on, then how the measurement was made.
fn rank(finding: &Finding, diagnosis: &Diagnosis) -> u8 {
    let is_bloated = diagnosis.health == Health::Bloated;
    let is_headline = |phase| Some(phase) == diagnosis.headline_phase;
    let of_headline = finding.direction.is_some() && finding.direction == headline_direction(diagnosis);
    match &finding.conclusion {
        Conclusion::Instrument(InstrumentEffect::Incomplete { .. }) => 0,
        Conclusion::ShaperCheck(check) => {
            if check.passed {
                20
            } else {
                0
            }
        }
        Conclusion::ShaperConflict(_) => 1,
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => {
            if is_headline(increase.phase) { 1 } else { 12 }
        }
        Conclusion::QueueLocation(location) if is_headline(location.phase) => 2,
        Conclusion::QueueLocation(_) => 7,
        Conclusion::UnknownLocation(_) => 10,
        Conclusion::QueueDelay(_)
        | Conclusion::OwnLoad(_)
        | Conclusion::RecurringDelay(_)
        | Conclusion::RecurringLoss(_)
        | Conclusion::BaseChange(_)
        | Conclusion::BloatedQueue(_)
        | Conclusion::QdiscBypass(_) => 2,
        Conclusion::BufferSize(_) | Conclusion::QueueManagement(_) => {
            if of_headline {
                3
            } else {
                7
            }
        }
        Conclusion::Bottleneck(_)
        | Conclusion::MeasuredBuffer(_)
        | Conclusion::PortOverload(_)
        | Conclusion::LosslessBurst(_)
        | Conclusion::SharedBuffer(_)
        | Conclusion::HeadOfLineBlocking(_)
        | Conclusion::PauseFrames(_)
        | Conclusion::RateChange(_)
        | Conclusion::OtherTraffic(_)
        | Conclusion::LocalTraffic(_) => 3,
        // They are the headline of a line without a queue.
        Conclusion::Outage(_) | Conclusion::ProbeLoss(_) | Conclusion::DatagramLoss(_) if !is_bloated => 0,
        Conclusion::Outage(_)
        | Conclusion::ProbeLoss(_)
        | Conclusion::DatagramLoss(_)
        | Conclusion::PathLoss(_) => 4,
        Conclusion::LowerBound(bound) => match bound.cause {
            BoundCause::StillGrowing { .. } if is_headline(bound.phase) => 4,
            BoundCause::StillGrowing { .. } | BoundCause::NotReached { .. } => 9,
        },
        Conclusion::AckStarvation(_) | Conclusion::DelayedFlows(_) => 5,
        Conclusion::DelayedProbes(_)
        | Conclusion::StartUp(_)
        | Conclusion::ExceededTimers(_)
        | Conclusion::QueueEmptied(_) => 6,
        Conclusion::FillTime(fill) => {
            if is_headline(fill.phase) {
                8
            } else {
                13
            }
        }
        Conclusion::Oscillation(_) | Conclusion::Retransmission(_) | Conclusion::DarkBuffer(_) => 9,
        Conclusion::DrainTime(_) | Conclusion::LatencyVariation(_) | Conclusion::Reordering(_) => 10,
        Conclusion::Instrument(_) | Conclusion::Remarking(_) | Conclusion::UnreadableQueue(_) => 11,
        Conclusion::HarmlessQueue(_) | Conclusion::Unknown { .. } => 20,
    }
}

/// What the evidence of the findings excludes, as a list; `None` if nothing. What one finding
/// excludes and another leaves open is not listed.
pub fn excluded(findings: &[Finding]) -> Option<String> {
    let is_open = |one| findings.iter().any(|finding| finding.alternatives.contains(one));
    let mut all: Vec<&Alternative> = Vec::new();
    for one in findings.iter().flat_map(|finding| &finding.excluded) {
        if !all.contains(&one) && !is_open(one) {
            all.push(one);
        }
    }
    let words: Vec<String> = all.into_iter().map(excluded_name).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
