//! Identifies the queue management from the delays at which packets were dropped or marked.
use crate::delay_curve::DelayPoint;
use alloc::vec::Vec;
use fathom_stats::percentile;

/// How a queue decides what to drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Management {
    /// Drops packets only when the buffer is full.
    TailDrop,
    /// Drops at random, with a probability that grows with the queue (RED and similar).
    RandomEarly,
    /// Keeps the delay near a target by dropping at a growing rate (CoDel, FQ-CoDel and similar).
    Codel,
    /// Nothing was dropped or marked, so the management is unknown.
    NoneSeen,
}

/// Whether flows have separate queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// A sparse flow did not wait behind the bulk flows.
    PerFlow,
    /// A sparse flow waited as long as the bulk flows.
    Shared,
}

/// Inferred management of a queue, with its evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct Fingerprint {
    /// Kind of management; `None` if losses were seen but fit no kind.
    pub management: Option<Management>,
    /// Flow isolation; `None` without sparse flows at the same time as bulk flows.
    pub isolation: Option<Isolation>,
    /// Number of marked packets or, before the queue, of runs of ECN echoes, each of which
    /// represents at least one mark.
    pub marks: u64,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Number of lost segments.
    pub losses: u64,
    /// Number of losses and marks with a known delay.
    pub dated: u64,
    /// Share of these at the full queue: within 5 % or two packets of their median delay.
    pub at_full_ratio: f64,
    /// 10th, 50th and 90th percentile of the delay at losses and marks, ns.
    pub at_loss_ns: Option<[f64; 3]>,
    /// Exponent of the time between losses as a function of their number in an episode (-0.5 for
    /// CoDel), and the number of intervals.
    pub spacing: Option<(f64, u32)>,
    /// Delay of sparse flows relative to bulk flows at the same time.
    pub sparse_ratio: Option<f64>,
    /// Share of episodes that started 100 ms after the delay rose above CoDel's target of 5 ms.
    pub codel_conformance_ratio: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    /// Time of each loss (ns) and the delay of neighboring packets (ns), in time order.
    pub(crate) losses: &'a [(f64, Option<f64>)],
    pub(crate) count: u64,
    pub(crate) marks: u64,
    pub(crate) episodes: usize,
    /// Delay that lasted for a moment at most in the first overflow, which fills the buffer.
    pub(crate) peak_ns: f64,
    pub(crate) standing_ns: f64,
    /// 95th percentile of the delay over time.
    pub(crate) high_ns: f64,
    /// Delay over time.
    pub(crate) delays: &'a [DelayPoint],
    /// Share of the time in which bulk flows waited for very different times.
    pub(crate) own_queue_ratio: Option<f64>,
    /// Serialization time of one packet at the bottleneck.
    pub(crate) packet_ns: f64,
    pub(crate) error_ns: f64,
    pub(crate) sparse_ratio: Option<f64>,
    /// Share of drops when CoDel predicts them; see [`crate::codel_law::codel_conformance_ratio`].
    pub(crate) codel_conformance_ratio: Option<f64>,
}

/// Maximum median delay of a controlled queue: the target is 5 ms for CoDel and 15 ms for PIE, plus
/// what builds up before they react. RED with a lower threshold looks the same.
const CONTROLLED_NS: f64 = 25e6;
/// If losses occurred at a full buffer, the delay in the first overflow exceeds the 90th percentile
/// of the delay at losses by at most this factor plus a packet.
const FULL_RATIO: f64 = 1.03;
/// If at least this share of losses occurred at the full queue, the buffer drops. RED drops along
/// its slope, so a third or so of its losses do, and the same holds for random losses. Losses in
/// hosts or other links occur at any queue length.
pub(crate) const MOSTLY_FULL: f64 = 0.6;
/// CoDel's interval of 100 ms plus a margin: losses of one dropping state are not farther apart.
const CODEL_INTERVAL_NS: f64 = 130e6;
/// Fewer episodes are not attributed to queue management.
const MIN_EPISODES: usize = 4;
/// Random drops match the timing of CoDel far less often.
const MIN_CODEL_CONFORMANCE: f64 = 0.5;
/// Time that the receiver of many flows may need before it answers anything except a handshake,
/// which the kernel answers at once.
const BUSY_HOST_NS: f64 = 1.5e6;
/// A tail-drop buffer is never longer than at its losses, except for this share of the time, in
/// which hosts delayed packets or ACKs.
const MAX_ABOVE: f64 = 0.03;
/// Losses of a few episodes have one cause if 80 % of them are within this ratio of their median.
const TIGHT_RATIO: f64 = 0.1;
/// Queues of fewer packets have too few lengths to tell a constant maximum from a varying one.
const DEEP_PACKETS: f64 = 16.0;
/// With a larger error of the delays, all losses seem to occur at the same length.
const MAX_ERROR_RATIO: f64 = 0.15;
const HALF_SECOND_NS: f64 = 500e6;
/// RED drops with a probability that grows with the queue: the median of its losses is not below
/// that of the queue, and nearly all occur at a queue of at least this share of it. Random losses
/// of a link occur at any length.
const MIN_LOW_RATIO: f64 = 0.7;
/// Drops at queues much longer than those usually seen occur in another queue than most packets
/// pass, or only when transfers start.
const USUAL_RATIO: f64 = 1.5;
/// Usual ratio of RED's thresholds, between which it drops at random (Floyd and Jacobson).
const MAX_THRESHOLDS: f64 = 3.0;
/// Fewer losses do not show how their probability grows.
const MIN_RANDOM: usize = 30;
/// Confidence that flows have separate queues if it is unknown how these are managed.
const SEPARATE: f64 = 0.5;
/// Bulk flows have separate queues if they wait for very different times for this share of the
/// time, and share one if they rarely do.
const MOSTLY_OWN: f64 = 0.5;
/// With fewer losses of known delay, nothing is inferred.
const MIN_DATED: usize = 3;

pub(crate) fn fingerprint(evidence: &Evidence<'_>) -> Fingerprint {
    let (at_loss, dated) = at_loss(evidence.losses).unwrap_or(([0.0; 3], 0));
    let near = (0.05 * at_loss[1]).max(1.2 * evidence.packet_ns) + evidence.error_ns;
    let dates = evidence.losses.iter().filter_map(|loss| loss.1);
    let full = dates.filter(|delay| libm::fabs(delay - at_loss[1]) <= near).count();
    let at_full_ratio = if dated == 0 { 0.0 } else { full as f64 / dated as f64 };
    let spacing = spacing(evidence.losses);
    let isolation = match evidence.sparse_ratio.and_then(|ratio| isolation(ratio, evidence)) {
        None if evidence.own_queue_ratio.is_some_and(|ratio| ratio >= MOSTLY_OWN) => Some(Isolation::PerFlow),
        found => found,
    };
    let at_losses = AtLosses { delays_ns: at_loss, dated, at_full_ratio, spacing };
    let management = management(evidence, &at_losses, isolation);
    Fingerprint {
        management,
        isolation,
        marks: evidence.marks,
        confidence: match (management, isolation) {
            (None, Some(Isolation::PerFlow)) => SEPARATE,
            _ => confidence(management, dated, at_full_ratio, evidence.peak_ns / at_loss[2].max(1.0)),
        },
        losses: evidence.count,
        dated: dated as u64,
        at_full_ratio,
        at_loss_ns: (dated > 0).then_some(at_loss),
        spacing,
        sparse_ratio: evidence.sparse_ratio,
        codel_conformance_ratio: evidence.codel_conformance_ratio,
    }
}

/// 10th, 50th and 90th percentile of the delays at losses, and their number.
fn at_loss(losses: &[(f64, Option<f64>)]) -> Option<([f64; 3], usize)> {
    let mut delays: Vec<f64> = losses.iter().filter_map(|loss| loss.1).collect();
    let mut at = |share: f64| percentile(&mut delays, share);
    Some(([at(0.1)?, at(0.5)?, at(0.9)?], delays.len()))
}

/// A flow with its own queue still waits for half of the packet on the link on average.
fn isolation(sparse_ratio: f64, evidence: &Evidence<'_>) -> Option<Isolation> {
    let on_link = 0.5 * evidence.packet_ns / evidence.standing_ns.max(1.0);
    let is_of_hosts = evidence.standing_ns < BUSY_HOST_NS;
    match sparse_ratio {
        ratio if ratio < (0.3 + on_link).min(0.5) => (!is_of_hosts).then_some(Isolation::PerFlow),
        ratio if (0.6..=1.6).contains(&ratio) => Some(Isolation::Shared),
        _ => None,
    }
}

/// What the losses with a known delay have in common.
struct AtLosses {
    /// 10th, 50th and 90th percentile of their delay.
    delays_ns: [f64; 3],
    dated: usize,
    at_full_ratio: f64,
    spacing: Option<(f64, u32)>,
}

fn management(
    evidence: &Evidence<'_>,
    at_losses: &AtLosses,
    isolation: Option<Isolation>,
) -> Option<Management> {
    let AtLosses { delays_ns: at_loss, dated, at_full_ratio, spacing } = *at_losses;
    if evidence.count == 0 && evidence.marks == 0 {
        return Some(Management::NoneSeen);
    }
    if dated < MIN_DATED {
        return None;
    }
    let is_controlled = evidence.standing_ns < CONTROLLED_NS && at_loss[1] < 2.0 * CONTROLLED_NS;
    let is_spaced = spacing.is_some_and(|(exponent, gaps)| gaps >= 8 && (-0.8..=-0.25).contains(&exponent));
    if evidence.count == 0 {
        // A queue that only marks has never overflowed.
        return Some(if is_controlled { Management::Codel } else { Management::RandomEarly });
    }
    // If the queue was longer when the sender started, or at other times, the buffer was not full
    // when it dropped.
    let room_ns = FULL_RATIO * at_loss[2] + 1.5 * evidence.packet_ns + evidence.error_ns;
    let was_full = evidence.peak_ns <= room_ns && above_ratio(evidence.delays, room_ns) <= MAX_ABOVE;
    let (apart_ns, packet_ns) = (at_loss[2] - at_loss[0], evidence.packet_ns);
    let is_spread = apart_ns > (0.2 * at_loss[2]).max(1.5 * packet_ns + evidence.error_ns);
    let is_tight = apart_ns <= (TIGHT_RATIO * at_loss[1]).max(1.5 * packet_ns + evidence.error_ns);
    let is_lawful = evidence.codel_conformance_ratio.is_some_and(|ratio| ratio >= MIN_CODEL_CONFORMANCE);
    if is_lawful && is_spread {
        return Some(Management::Codel);
    }
    // Losses of the link occur at shorter queues, but nothing is lost at longer ones. A buffer of
    // few packets shows too few lengths to say so.
    let near_ns = (0.05 * at_loss[1]).max(1.2 * packet_ns) + evidence.error_ns;
    let is_top = at_loss[2] - at_loss[1] <= near_ns && at_loss[1] >= DEEP_PACKETS * packet_ns;
    let is_resolved = evidence.error_ns <= MAX_ERROR_RATIO * at_loss[1];
    let is_constant = is_resolved && (is_tight || (is_top && moments(evidence.losses) >= MIN_EPISODES));
    if at_full_ratio >= MOSTLY_FULL && was_full && is_constant {
        return Some(Management::TailDrop);
    }
    // A queue management acts repeatedly; losses at one or two moments can have any cause.
    if evidence.episodes < MIN_EPISODES {
        return None;
    }
    // Regular traffic meets the same delay at each drop; then only its timing shows CoDel.
    let is_codel = if is_spread { is_spaced || !was_full } else { is_lawful && !was_full };
    if is_controlled && is_codel {
        return Some(Management::Codel);
    }
    let is_random =
        at_full_ratio < MOSTLY_FULL && is_spread && !is_top && isolation != Some(Isolation::PerFlow);
    (is_random && grows_with_queue(evidence, at_loss)).then_some(Management::RandomEarly)
}

/// Number of half seconds with losses. Many flows lose packets all the time, in few episodes.
fn moments(losses: &[(f64, Option<f64>)]) -> usize {
    let half = |loss: &(f64, Option<f64>)| (loss.0 / HALF_SECOND_NS) as u64;
    losses.chunk_by(|a, b| half(a) == half(b)).count()
}

/// Share of the time in which every packet waited longer than `room_ns`.
fn above_ratio(delays: &[DelayPoint], room_ns: f64) -> f64 {
    let above = delays.iter().filter(|point| point.min_ns > room_ns).count();
    above as f64 / delays.len().max(1) as f64
}

/// Whether packets are dropped more often the longer the queue is that they all share.
fn grows_with_queue(evidence: &Evidence<'_>, at_loss: [f64; 3]) -> bool {
    let most_ns = (USUAL_RATIO * evidence.high_ns).min(MAX_THRESHOLDS * evidence.standing_ns);
    let is_usual = at_loss[1] <= most_ns && evidence.losses.len() >= MIN_RANDOM;
    let is_high = at_loss[1] >= evidence.standing_ns && at_loss[0] >= MIN_LOW_RATIO * evidence.standing_ns;
    is_usual && is_high
}

/// More and clearer losses increase the confidence, but the result is never certain.
fn confidence(management: Option<Management>, dated: usize, at_full_ratio: f64, overshoot: f64) -> f64 {
    let number = 1.0 - 1.0 / libm::sqrt(1.0 + dated as f64);
    match management {
        Some(Management::TailDrop) => number * at_full_ratio,
        Some(Management::Codel) => number * (overshoot - 1.0).clamp(0.2, 1.0),
        Some(Management::RandomEarly) => 0.7 * number * (1.0 - at_full_ratio),
        Some(Management::NoneSeen) | None => 0.0,
    }
}

/// Slope of log(interval) over log(number) for runs of losses that fit one dropping state of CoDel.
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
    fn an_isolated_flow_only_waits_for_the_packet_on_the_link() {
        let rows = [
            // Packet time and median delay in ms; relative delay of sparse flows; isolation.
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
                high_ns: standing_ms * 1e6,
                delays: &[],
                own_queue_ratio: None,
                packet_ns: packet_ms * 1e6,
                error_ns: 0.0,
                sparse_ratio: Some(ratio),
                codel_conformance_ratio: None,
            };
            assert_eq!(fingerprint(&evidence).isolation, expected, "{packet_ms} {standing_ms} {ratio}");
        }
    }
}
