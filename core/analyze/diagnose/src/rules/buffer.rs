//! Estimates the buffer size: a delay D at a rate R corresponds to D x R bytes.
use crate::bursts;
use crate::delivery::{Capacity, capacity, is_shared};
use crate::health::is_bloated;
use crate::latency::longest;
use crate::rules::bound::still_growing;
use crate::rules::{limit, management};
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Alternative, BufferCheck, BufferLimit, BufferSize, Certainty, Conclusion, Finding, ManagementRule,
    MeasuredBuffer, Metric, PhaseKind, SeriesKey, Span, Statistic,
};
use fathom_units::{Direction, ETHERNET_PER_PAYLOAD, FULL_IP_PACKET, IP_PER_PAYLOAD, Time};

/// Largest difference between the delays that TCP and bursts find of one buffer, relative and in
/// seconds: TCP fills it with packets of other sizes as well, and probes are apart.
const TOLERANCE: f64 = 0.15;
const TOLERANCE_S: f64 = 0.010;

/// The largest queue of a direction.
pub(crate) struct Buffer {
    /// Added delay in seconds.
    pub(crate) delay_s: f64,
    /// Rate of the link at that time, in bits of IP packets.
    rate_bits_per_second: f64,
    pub(crate) capacity: Capacity,
    /// Bytes of IP packets.
    pub(crate) ip_bytes: f64,
    one_way: bool,
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|d| finding(view, d)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let rise = view.rise_of(direction)?;
    let buffer = buffer(view, direction)?;
    let rule = management::rule(view, direction);
    // Packets of others fill a queue too, and have queues that no probe is in.
    let has_others = rise.has_other_traffic || rule == Some(ManagementRule::FairQueueing);
    if has_others || management::is_buffer_unknown(view, direction) {
        return None;
    }
    // Only losses at the top show that the buffer was full.
    let is_rate_lower_bound =
        buffer.capacity.is_lower_bound || is_shared(view, direction, buffer.capacity.ip_bits_per_second());
    let growing = still_growing(view, &rise) || rule != Some(ManagementRule::TailDrop) || is_rate_lower_bound;
    let certainty = match (growing, buffer.one_way) {
        (false, true) => Certainty::Certain,
        (true, _) | (false, false) => Certainty::Likely,
    };
    // Delays are proportional to bytes only at a constant rate.
    let is_alone = buffer.one_way && rise.phase.kind != PhaseKind::Both && buffer.capacity.is_steady();
    let limit = (!growing && is_alone).then(|| limit::limit(view, direction, buffer.delay_s)).flatten();
    let measured = bursts::measured_buffer(view.run, direction);
    let check = measured.as_ref().and_then(|measured| check(measured, buffer.delay_s, growing));
    let is_confirmed = check.as_ref().is_some_and(|check| check.agrees && !check.is_lower_bound);
    let limit = limit.or(measured.filter(|_| is_confirmed).and_then(|measured| measured.limit));
    let certainty = match check {
        Some(BufferCheck { agrees: false, .. }) => Certainty::Possible,
        Some(_) if !growing => Certainty::Certain,
        _ => certainty,
    };
    let size = BufferSize {
        phase: rise.phase.kind,
        delay_s: buffer.delay_s,
        goodput_bits_per_second: buffer.capacity.payload_bits_per_second,
        probes_bits_per_second: buffer.capacity.probes_bits_per_second,
        rate_bits_per_second: buffer.rate_bits_per_second,
        ip_bytes: buffer.ip_bytes,
        ethernet_bytes: buffer.ip_bytes / IP_PER_PAYLOAD * ETHERNET_PER_PAYLOAD,
        is_lower_bound: growing,
        is_rate_lower_bound,
        is_bloated: is_bloated(&rise),
        limit,
        check,
    };
    let source = if buffer.one_way {
        SeriesKey::directed(Metric::OneWayDelay, direction)
    } else {
        view.source?.key.clone()
    };
    let goodput = SeriesKey::directed(Metric::Goodput, direction);
    let mut finding = Finding::new(Conclusion::BufferSize(size), Some(direction), certainty)
        .with_evidence(view.evidence(&source, rise.phase, Statistic::Percentile(0.99)))
        .with_evidence(view.evidence(&goodput, rise.phase, Statistic::Percentile(0.5)));
    finding = match limit {
        None => finding.or(Alternative::PacketLimit),
        Some(BufferLimit::Bytes) => finding.excluding(Alternative::PacketLimit),
        Some(BufferLimit::Packets) => finding,
    };
    if !growing {
        finding = finding.or(Alternative::ManagedLargerBuffer);
    }
    if buffer.one_way {
        finding = finding.excluding(Alternative::OtherDirection);
    }
    Some(finding)
}

/// Compares a delay under a load of TCP with what bursts found of the same buffer; `None` if one of
/// them does not limit the other.
fn check(measured: &MeasuredBuffer, delay_s: f64, is_lower_bound: bool) -> Option<BufferCheck> {
    if measured.may_be_managed() {
        return None;
    }
    let tolerance_s = (TOLERANCE * delay_s).max(TOLERANCE_S);
    let more_s = measured.delay_s - delay_s;
    let agrees = match (is_lower_bound, measured.is_lower_bound) {
        (false, false) => more_s.abs() <= tolerance_s,
        (true, false) => more_s >= -tolerance_s,
        (false, true) if more_s > tolerance_s => false,
        (_, true) => return None,
    };
    let full = FULL_IP_PACKET.get() as f64;
    Some(BufferCheck {
        ip_bytes: measured.bytes.value * full / (full + measured.overhead_bytes),
        delay_s: measured.delay_s,
        is_lower_bound: measured.is_lower_bound,
        agrees,
    })
}

/// `None` if the increase is too small for a full buffer.
pub(crate) fn buffer(view: &View<'_>, direction: Direction) -> Option<Buffer> {
    let rise = view.rise_of(direction).filter(|r| r.p50() >= REPORTED_INCREASE_S)?;
    let capacity = capacity(view, direction, &rise)?;
    let one_way = one_way_delay(view, direction, &rise);
    // If both directions are loaded, only one-way delays can separate their queues.
    let is_separate = rise.phase.kind != PhaseKind::Both;
    let (sent, delay_s) = one_way
        .or_else(|| round_trip(view, &rise).filter(|_| is_separate))
        .filter(|(_, delay_s)| *delay_s >= REPORTED_INCREASE_S)?;
    // What was in front of this packet left while it waited.
    let rate_bits_per_second = capacity.ip_bits_per_second_in(Span::after(sent, delay_s));
    let ip_bytes = delay_s * rate_bits_per_second / 8.0;
    Some(Buffer { delay_s, rate_bits_per_second, capacity, ip_bytes, one_way: one_way.is_some() })
}

/// Longest delay above the idle median in one direction, and when its probe was sent.
pub(super) fn one_way_delay(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<(Time, f64)> {
    let idle = view.one_way(direction, view.run.phase(PhaseKind::Idle)?).percentile(0.5)?;
    let key = SeriesKey::directed(Metric::OneWayDelay, direction);
    let (sent, longest_s) = longest(view.run.series(&key)?.within(rise.phase))?;
    Some((sent, longest_s - idle.value))
}

fn round_trip(view: &View<'_>, rise: &Rise<'_>) -> Option<(Time, f64)> {
    let (sent, longest_s) = longest(view.latency_in(rise.phase))?;
    Some((sent, longest_s - rise.idle.p50.value))
}
