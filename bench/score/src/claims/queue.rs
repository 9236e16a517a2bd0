//! The queue: the rate that drains it, its size, its limit, its management, and which of several it
//! is.
use super::{Case, Claim, ClaimKind, Made, Tolerance, quantity};
use crate::truth::{Management, PhaseTruth, Queue};
use fathom_run::{BufferLimit, Conclusion, Finding, Management as QueueRule, ManagementRule, threshold};
use fathom_units::Direction;

/// 3 %, or two packets.
const BUFFER: Tolerance = Tolerance { ratio: 0.03, least: 3028.0 };
/// A lower bound below this share of the rate is useless, so it counts as wrong.
const LEAST_BOUND: f64 = 0.5;
/// A shorter queue shows nothing about its management, in seconds.
const MIN_QUEUE_S: f64 = 0.005;
/// The rate of a link changed at least by the second ratio; below the first, it did not.
const CHANGED: [f64; 2] = [1.1, 1.2];
/// Difference from the claimed share of the delay that is right: that of the rule. Of a small share
/// at least half must be there.
const SHARE_TOLERANCE: f64 = 0.25;
const LEAST_OF_CLAIMED: f64 = 0.5;

pub(super) fn claims(case: &Case<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for direction in Direction::BOTH {
        let Some(phase) = case.truth.alone(direction) else { continue };
        let Some(queue) = case.truth.bottleneck(direction, phase) else { continue };
        claims.extend(of_queue(case, phase, queue).into_iter().map(|claim| claim.about(direction.name())));
    }
    claims
}

fn of_queue(case: &Case<'_>, phase: &PhaseTruth, queue: &Queue) -> Vec<Claim> {
    let longest_s = queue.longest_s(phase.from_s, phase.to_s);
    let dropped = queue.dropped(phase.from_s, phase.to_s);
    let is_bloated = case.truth.is_phase_bloated(phase);
    let is_buffer_known = is_bloated && is_full(queue) && dropped > 0.0 && queue.is_steady;
    let mut claims = size_and_rate(case, queue, longest_s, is_buffer_known, is_bloated);
    claims.push(rate_change(case, phase, queue, is_bloated));
    claims.push(management(case, phase, queue));
    claims.extend(which_queue(case, phase, queue.direction, is_bloated));
    claims.push(policer(case, phase, queue.direction));
    claims
}

fn size_and_rate(
    case: &Case<'_>,
    queue: &Queue,
    longest_s: f64,
    is_buffer_known: bool,
    is_bloated: bool,
) -> Vec<Claim> {
    let found = case
        .findings(|conclusion| match conclusion {
            Conclusion::BufferSize(size) => Some(size),
            _ => None,
        })
        .find(|(finding, _)| finding.direction == Some(queue.direction));
    let narrowest = case.truth.narrowest(queue.direction).filter(|narrowest| narrowest.is_steady);
    let capacity_truth = narrowest.and_then(|narrowest| narrowest.ip_rate);
    let of_buffer = found
        .map(|(finding, size)| ((size.rate_bits_per_second, size.is_rate_lower_bound), finding.certainty));
    let of_flow_queues = || {
        let (finding, rule) = management_of(case, queue.direction)?;
        Some(((rule.least_bits_per_second?, true), finding.certainty))
    };
    let claimed = of_buffer.or_else(of_flow_queues);
    let capacity = claimed.zip(capacity_truth).map(|((claimed, certainty), rate)| {
        let made = quantity(claimed, rate, Tolerance::RATE, certainty, "bit/s");
        Made { is_right: made.is_right && claimed.0 >= LEAST_BOUND * rate, ..made }
    });
    let truth = queue.ip_rate.filter(|_| queue.is_steady);
    let buffer = found.zip(truth).map(|((finding, size), rate)| {
        let made = quantity(
            (size.ip_bytes, size.is_lower_bound),
            longest_s * rate / 8.0,
            BUFFER,
            finding.certainty,
            "B",
        );
        // A managed queue has no full buffer.
        Made { is_right: made.is_right && (size.is_lower_bound || is_full(queue)), ..made }
    });
    let limit = found.and_then(|(finding, size)| {
        let limit = size.limit?;
        let is_right = queue.counts_packets == Some(limit == BufferLimit::Packets);
        let detail = format!("{limit:?}, counts packets: {:?}", queue.counts_packets);
        Some(Made::new(is_right, Some(finding.certainty), detail))
    });
    vec![
        Claim::new(ClaimKind::Capacity, is_bloated && capacity_truth.is_some(), capacity),
        Claim::new(ClaimKind::BufferSize, is_buffer_known, buffer),
        Claim::new(ClaimKind::LimitKind, is_buffer_known && queue.counts_packets.is_some(), limit),
    ]
}

/// The claim is about the queue that dropped most packets, because only drops show a rule. If none
/// did, it is the longest one.
fn management(case: &Case<'_>, phase: &PhaseTruth, longest: &Queue) -> Claim {
    let drops = |queue: &Queue| queue.dropped(phase.from_s, phase.to_s);
    let of_direction = case.truth.queues.iter().filter(|other| other.direction == longest.direction);
    let dropping = of_direction.filter(|other| drops(other) > 0.0);
    let has_flow_queues = dropping.clone().any(|other| other.management == Management::FairAqm);
    let queue = dropping.max_by(|a, b| drops(a).total_cmp(&drops(b))).unwrap_or(longest);
    let (dropped, longest_s) = (drops(queue), queue.longest_s(phase.from_s, phase.to_s));
    let made = management_of(case, queue.direction).and_then(|(finding, claimed)| {
        let is_short = longest_s <= threshold::MODEST_S + Tolerance::DELAY.of(threshold::MODEST_S);
        let is_right = match claimed.rule {
            ManagementRule::KeptShort => Some(dropped > 0.0 && (is_short || !is_full(queue))),
            // Another queue of the direction may drop more.
            ManagementRule::FairQueueing => Some(has_flow_queues),
            rule => is_right(rule, queue, dropped),
        }?;
        Some(Made::new(
            is_right,
            Some(finding.certainty),
            detail(finding, claimed.rule, queue, (dropped, longest_s)),
        ))
    });
    Claim::new(ClaimKind::Management, dropped > 0.0 && longest_s >= MIN_QUEUE_S, made)
}

/// What the diagnosis says of how the queue of a direction is managed.
fn management_of<'c>(case: &'c Case<'_>, direction: Direction) -> Option<(&'c Finding, &'c QueueRule)> {
    let mut found = case.findings(|conclusion| match conclusion {
        Conclusion::QueueManagement(management) => Some(management),
        _ => None,
    });
    found.find(|(finding, _)| finding.direction == Some(direction))
}

/// Where packets waited: each place that is named has at least nearly the share of the delay that
/// is claimed. One that is the whole path is no claim. Behind the last router is the server.
fn which_queue(case: &Case<'_>, phase: &PhaseTruth, direction: Direction, is_bloated: bool) -> Vec<Claim> {
    let of_direction = case.truth.queues.iter().filter(|queue| queue.direction == direction);
    let mut delays_s: Vec<f64> = of_direction.map(|queue| queue.mean_s(phase.from_s, phase.to_s)).collect();
    delays_s.push(0.0);
    let all_s: f64 = delays_s.iter().sum();
    let found = case.findings(|conclusion| match conclusion {
        Conclusion::QueueLocation(location) => Some(location),
        _ => None,
    });
    let of_phase = found.filter(|(finding, location)| {
        let links = usize::from(location.far_hop - location.near_hop);
        finding.direction == Some(direction) && location.phase == phase.kind && links < delays_s.len()
    });
    let made: Vec<Made> = of_phase
        .map(|(finding, location)| {
            let links = usize::from(location.near_hop)..usize::from(location.far_hop).min(delays_s.len());
            let there_s: f64 = delays_s.get(links.clone()).unwrap_or_default().iter().sum();
            let share = there_s / all_s.max(1e-9);
            let detail = format!(
                "links {links:?} with {:.0} % ({:?}) for {:.0} %; queues {delays_s:.3?} s",
                location.delay_ratio * 100.0,
                finding.certainty,
                share * 100.0
            );
            let least = (location.delay_ratio - SHARE_TOLERANCE).max(LEAST_OF_CLAIMED * location.delay_ratio);
            Made::new(share >= least, Some(finding.certainty), detail)
        })
        .collect();
    // The lines of the kernel have one queue.
    let is_judged = case.measured.is_simulated();
    if made.is_empty() || !is_judged {
        return vec![Claim::new(ClaimKind::WhichQueue, is_bloated && is_judged, None)];
    }
    made.into_iter().map(|one| Claim::new(ClaimKind::WhichQueue, is_bloated, Some(one))).collect()
}

/// Whether the rate of a link varied. What others leave of a steady link varies too.
fn rate_change(case: &Case<'_>, phase: &PhaseTruth, queue: &Queue, is_bloated: bool) -> Claim {
    let mut changes = case.findings(|conclusion| match conclusion {
        Conclusion::RateChange(change) => Some(change),
        _ => None,
    });
    let found = changes.find(|(finding, _)| finding.direction == Some(queue.direction));
    let of_direction = case.truth.queues.iter().filter(|other| other.direction == queue.direction);
    let ratios = of_direction.map(|other| other.rate_ratio(phase.from_s, phase.to_s));
    let most = ratios.fold(case.truth.path_rate_ratio(queue.direction, phase), f64::max);
    let has_others = !case.measured.plan.workloads.is_empty();
    let made = found.map(|(finding, change)| {
        let (low, high) = (change.lowest_bits_per_second, change.highest_bits_per_second);
        let detail = format!("{low:.0} to {high:.0} bit/s for a ratio of {most:.2}");
        Made::new(most >= CHANGED[0] || has_others, Some(finding.certainty), detail)
    });
    let is_possible = is_bloated && queue.rate_ratio(phase.from_s, phase.to_s) >= CHANGED[1];
    Claim::new(ClaimKind::RateChange, is_possible, made)
}

/// Whether a policer dropped packets.
fn policer(case: &Case<'_>, phase: &PhaseTruth, direction: Direction) -> Claim {
    // A policer hardly queues, so it is seldom the longest queue.
    let is_policer = case.truth.queues.iter().any(|queue| {
        queue.direction == direction
            && queue.management == Management::Policer
            && queue.dropped(phase.from_s, phase.to_s) > 0.0
    });
    let mut found = case.findings(|conclusion| match conclusion {
        Conclusion::QueueManagement(of) if of.rule == ManagementRule::Policer => Some(of),
        _ => None,
    });
    let made = found.find(|(finding, _)| finding.direction == Some(direction)).map(|(finding, found)| {
        let detail = format!("{:.0} bit/s", found.policed_bits_per_second.unwrap_or_default());
        Made::new(is_policer, Some(finding.certainty), detail)
    });
    Claim::new(ClaimKind::Policer, is_policer, made)
}

/// The queue drops only when it is full.
const fn is_full(queue: &Queue) -> bool {
    matches!(queue.management, Management::TailDrop | Management::HeadDrop)
}

/// `None` where the rule says nothing about the queue.
fn is_right(rule: ManagementRule, queue: &Queue, dropped: f64) -> Option<bool> {
    let truth = queue.management;
    match rule {
        ManagementRule::TailDrop | ManagementRule::HeadDrop => Some(is_full(queue)),
        ManagementRule::Red | ManagementRule::Pie => Some(truth == Management::Aqm),
        ManagementRule::Codel => Some(matches!(truth, Management::Aqm | Management::FairAqm)),
        ManagementRule::FairQueueing => Some(truth == Management::FairAqm),
        ManagementRule::Policer => Some(truth == Management::Policer),
        ManagementRule::NeverDropped => Some(dropped == 0.0),
        ManagementRule::KeptShort | ManagementRule::NoneSeen => None,
    }
}

fn detail(
    finding: &Finding,
    rule: ManagementRule,
    queue: &Queue,
    (dropped, longest_s): (f64, f64),
) -> String {
    let truth = queue.management;
    format!("{rule:?} ({:?}) for {truth:?}, {dropped} dropped, at most {longest_s:.3} s", finding.certainty)
}
