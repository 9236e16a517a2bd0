//! What manages the queue, by the delays at which it dropped or marked.
use alloc::vec::Vec;
use fathom_stats::percentile;

/// How the queue decides what to drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Management {
    /// It drops what finds no room, and nothing before.
    TailDrop,
    /// It drops at random from a level on, the more the longer the queue is (RED, and what is like it).
    RandomEarly,
    /// It holds the delay near a target, and drops ever faster while it is above (CoDel, FQ-CoDel, and what is like them).
    Codel,
    /// Nothing was dropped or marked: what manages it cannot be seen.
    NoneSeen,
}

/// Whether flows have queues of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// A sparse flow did not wait for the bulk.
    PerFlow,
    /// A sparse flow waited as long as the bulk.
    Shared,
}

/// What manages the queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Fingerprint {
    /// How it drops; `None` where losses were seen and fit none.
    pub management: Option<Management>,
    /// Whether sparse flows wait with bulk flows; `None` without a sparse flow beside the bulk.
    pub isolation: Option<Isolation>,
    /// It marks instead of dropping: packets that came marked, or (before the queue) runs of echoes, each of one mark or more.
    pub marks: u64,
    /// 0 to 1.
    pub confidence: f64,
    /// Segments lost.
    pub losses: u64,
    /// Losses and marks of which the delay is known.
    pub dated: u64,
    /// Share of the dated that met a queue as full as any at a loss (within 5 % or two packets of the median).
    pub at_full_ratio: f64,
    /// 10th, 50th and 90th percentile of the delay at the dated, ns.
    pub at_loss_ns: Option<[f64; 3]>,
    /// Exponent of the time between losses by their number in an episode: CoDel's is -0.5. With how many gaps.
    pub spacing: Option<(f64, u32)>,
    /// What a sparse flow waited of what the bulk waited at the same time.
    pub sparse_ratio: Option<f64>,
    /// Of the losses that began an episode, the share that came 100 ms after the delay rose above CoDel's 5 ms.
    pub codel_conformance_ratio: Option<f64>,
}

/// What is known of drops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    /// When (ns), and the delay of neighbours (ns), in order.
    pub(crate) losses: &'a [(f64, Option<f64>)],
    pub(crate) count: u64,
    pub(crate) marks: u64,
    /// Loss episodes.
    pub(crate) episodes: usize,
    /// The most, on average over a short time, of the first overflow: a beginning sender fills what there is.
    pub(crate) peak_ns: f64,
    pub(crate) standing_ns: f64,
    /// Time of one packet on the bottleneck.
    pub(crate) packet_ns: f64,
    /// What delays may be off.
    pub(crate) error_ns: f64,
    pub(crate) sparse_ratio: Option<f64>,
    /// Share of drops that came when CoDel's law says; [`crate::codel_law::codel_conformance_ratio`].
    pub(crate) codel_conformance_ratio: Option<f64>,
}

/// CoDel's target is 5 ms, PIE's 15 ms: in the middle, with what comes before they act, a controlled queue stands no longer than this.
/// A RED that is set to less looks the same.
const CONTROLLED_NS: f64 = 25e6;
/// What was waited in the first overflow is no more than this times the 90th percentile of what was waited at losses, and a packet more,
/// if these met a full buffer.
const FULL_RATIO: f64 = 1.03;
/// If no fewer of the losses than that met a queue as full as any, it is the buffer that drops. Of RED's, which come along its slope, or of losses
/// by chance a third or so do; the others that a host or another link loses meet what there is.
pub(crate) const MOSTLY_FULL: f64 = 0.6;
/// Losses of one dropping state of CoDel are no farther apart than its interval, 100 ms, and some.
const CODEL_INTERVAL_NS: f64 = 130e6;
/// Fewer episodes are no management.
const MIN_EPISODES: usize = 4;
/// Drops that come by chance meet the time of CoDel's law by far less often.
const MIN_CODEL_CONFORMANCE: f64 = 0.5;
/// A receiver of many flows is busy for so long before it answers what is not a handshake, and the kernel answers those at once.
const BUSY_HOST_NS: f64 = 1.5e6;
/// Fewer losses with a delay say nothing.
const MIN_DATED: usize = 3;

pub(crate) fn fingerprint(evidence: &Evidence<'_>) -> Fingerprint {
    let (at_loss, dated) = at_loss(evidence.losses).unwrap_or(([0.0; 3], 0));
    let near = (0.05 * at_loss[1]).max(2.0 * evidence.packet_ns) + evidence.error_ns;
    let dates = evidence.losses.iter().filter_map(|loss| loss.1);
    let full = dates.filter(|delay| libm::fabs(delay - at_loss[1]) <= near).count();
    let at_full_ratio = if dated == 0 { 0.0 } else { full as f64 / dated as f64 };
    let spacing = spacing(evidence.losses);
    let management = management(evidence, dated, at_full_ratio, at_loss, spacing);
    Fingerprint {
        management,
        isolation: evidence.sparse_ratio.and_then(|ratio| isolation(ratio, evidence)),
        marks: evidence.marks,
        confidence: confidence(management, dated, at_full_ratio, evidence.peak_ns / at_loss[2].max(1.0)),
        losses: evidence.count,
        dated: dated as u64,
        at_full_ratio,
        at_loss_ns: (dated > 0).then_some(at_loss),
        spacing,
        sparse_ratio: evidence.sparse_ratio,
        codel_conformance_ratio: evidence.codel_conformance_ratio,
    }
}

/// 10th, 50th and 90th percentile of the delays at losses, and how many there are.
fn at_loss(losses: &[(f64, Option<f64>)]) -> Option<([f64; 3], usize)> {
    let mut delays: Vec<f64> = losses.iter().filter_map(|loss| loss.1).collect();
    let mut at = |share: f64| percentile(&mut delays, share);
    Some(([at(0.1)?, at(0.5)?, at(0.9)?], delays.len()))
}

/// Who has a queue of its own still waits for the packet on the link, half of which is left in the mean.
fn isolation(sparse_ratio: f64, evidence: &Evidence<'_>) -> Option<Isolation> {
    let on_link = 0.5 * evidence.packet_ns / evidence.standing_ns.max(1.0);
    let is_of_hosts = evidence.standing_ns < BUSY_HOST_NS;
    match sparse_ratio {
        ratio if ratio < (0.3 + on_link).min(0.5) => (!is_of_hosts).then_some(Isolation::PerFlow),
        ratio if (0.6..=1.6).contains(&ratio) => Some(Isolation::Shared),
        _ => None,
    }
}

fn management(
    evidence: &Evidence<'_>,
    dated: usize,
    at_full_ratio: f64,
    at_loss: [f64; 3],
    spacing: Option<(f64, u32)>,
) -> Option<Management> {
    if evidence.count == 0 && evidence.marks == 0 {
        return Some(Management::NoneSeen);
    }
    if dated < MIN_DATED {
        return None;
    }
    let is_controlled = evidence.standing_ns < CONTROLLED_NS && at_loss[1] < 2.0 * CONTROLLED_NS;
    let is_spaced = spacing.is_some_and(|(exponent, gaps)| gaps >= 8 && (-0.8..=-0.25).contains(&exponent));
    if evidence.count == 0 {
        // What only marks has not dropped for want of room.
        return Some(if is_controlled { Management::Codel } else { Management::RandomEarly });
    }
    // A buffer that was longer when the sender began had room left when it dropped.
    let room_ns = FULL_RATIO * at_loss[2] + evidence.packet_ns + evidence.error_ns;
    let was_full = evidence.peak_ns <= room_ns;
    let is_spread = at_loss[0] < 0.8 * at_loss[2];
    let is_lawful = evidence.codel_conformance_ratio.is_some_and(|ratio| ratio >= MIN_CODEL_CONFORMANCE);
    if is_lawful && is_spread {
        return Some(Management::Codel);
    }
    if at_full_ratio >= MOSTLY_FULL && was_full {
        return Some(Management::TailDrop);
    }
    // What manages a queue does so again and again; losses at one or two moments can have any cause.
    if evidence.episodes < MIN_EPISODES {
        return None;
    }
    if is_controlled && (is_spaced || !was_full) {
        return Some(Management::Codel);
    }
    (at_full_ratio < MOSTLY_FULL && is_spread).then_some(Management::RandomEarly)
}

/// More losses, and clearer ones, are surer; no figure of this kind is certain.
fn confidence(management: Option<Management>, dated: usize, at_full_ratio: f64, overshoot: f64) -> f64 {
    let number = 1.0 - 1.0 / libm::sqrt(1.0 + dated as f64);
    match management {
        Some(Management::TailDrop) => number * at_full_ratio,
        Some(Management::Codel) => number * (overshoot - 1.0).clamp(0.2, 1.0),
        Some(Management::RandomEarly) => 0.7 * number * (1.0 - at_full_ratio),
        Some(Management::NoneSeen) | None => 0.0,
    }
}

/// Slope of log(gap) by log(number) over all runs of losses that CoDel could have dropped one after the other.
fn spacing(losses: &[(f64, Option<f64>)]) -> Option<(f64, u32)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut number = 0_u32;
    for pair in losses.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        if gap > CODEL_INTERVAL_NS {
            number = 0;
        } else if gap > 0.0 {
            number += 1;
            points.push((libm::log(f64::from(number)), libm::log(gap)));
        }
    }
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n.max(1.0);
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut square, mut product) = (0.0, 0.0);
    for point in &points {
        square += (point.0 - x) * (point.0 - x);
        product += (point.0 - x) * (point.1 - y);
    }
    (points.len() >= 4 && square > 0.5).then(|| (product / square, points.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_of_its_own_queue_waits_for_the_packet_on_the_link_alone() {
        let rows = [
            // Time of a packet and median of the delay, ms; what a sparse flow waited of that; whether flows have their own queues.
            (0.24, 5.5, 0.05, Some(Isolation::PerFlow)),
            (0.24, 5.5, 0.40, None),
            (2.42, 5.5, 0.40, Some(Isolation::PerFlow)),
            (2.42, 5.5, 0.55, None),
            (2.42, 5.5, 0.90, Some(Isolation::Shared)),
            (12.1, 12.0, 0.49, Some(Isolation::PerFlow)),
            (12.1, 12.0, 0.70, Some(Isolation::Shared)),
            (0.24, 5.5, 2.00, None),
            (0.01, 1.0, 0.07, None),
            (0.01, 1.6, 0.07, Some(Isolation::PerFlow)),
            (0.01, 1.0, 0.90, Some(Isolation::Shared)),
        ];
        for (packet_ms, standing_ms, ratio, expected) in rows {
            let evidence = Evidence {
                losses: &[],
                count: 0,
                marks: 0,
                episodes: 0,
                peak_ns: 0.0,
                standing_ns: standing_ms * 1e6,
                packet_ns: packet_ms * 1e6,
                error_ns: 0.0,
                sparse_ratio: Some(ratio),
                codel_conformance_ratio: None,
            };
            assert_eq!(fingerprint(&evidence).isolation, expected, "{packet_ms} {standing_ms} {ratio}");
        }
    }
}
