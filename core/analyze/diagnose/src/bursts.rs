//! Diagnosis of bursts that filled the buffers of a line.
use crate::{Diagnosis, Health, verdict};
use alloc::vec::Vec;
use fathom_burst::{Buffer, EchoPath, echo_path, estimate, estimate_tail_drop, marks, responses};
use fathom_run::{
    Burst, Certainty, Conclusion, Finding, MeasuredBuffer, Metric, Reason, Remedy, Run, SeriesKey, threshold,
};
use fathom_stats::median;
use fathom_units::Direction;

/// Probes are compared with a burst where it waited for this share of its longest wait ...
const HIGH: f64 = 0.4;
/// ... and this time.
const HIGH_S: f64 = 0.010;
/// Datagrams of the burst further apart than this do not show the queue between them, ns.
const NEAR_NS: u64 = 100_000_000;
/// Least number of such probes.
const MIN_PROBES: usize = 3;
/// Probes that wait for less than this share of it have another queue.
const OTHER_QUEUE: f64 = 0.3;

pub(crate) fn diagnose(run: &Run) -> Diagnosis {
    let findings: Vec<Finding> = Direction::BOTH.into_iter().filter_map(|d| finding(run, d)).collect();
    let measured = || {
        findings.iter().filter_map(|finding| match &finding.conclusion {
            Conclusion::MeasuredBuffer(buffer) => Some(buffer),
            _ => None,
        })
    };
    let path = echo(run);
    let (health, reason) = if measured().any(|buffer| buffer.is_bloated) {
        (Health::Bloated, None)
    } else if measured().next().is_some() && path.is_some_and(|path| !path.is_upload) {
        (Health::Inconclusive, Some(Reason::UnknownDirection))
    } else if path.is_some_and(|path| path.is_limited) && measured().all(|buffer| buffer.is_lower_bound) {
        (Health::Inconclusive, Some(Reason::RepliesLimited))
    } else if measured().next().is_none() || measured().any(|b| b.is_lower_bound && b.rule.is_none()) {
        let arrived = run.bursts.iter().flat_map(|burst| &burst.received_ns).any(Option::is_some);
        let reason = if arrived { Reason::NoQueueFilled } else { Reason::NothingDelivered };
        (Health::Inconclusive, Some(reason))
    } else {
        (Health::Healthy, None)
    };
    let advice = verdict::advice(health, &findings);
    Diagnosis { health, reason, advice, findings, ..Diagnosis::default() }
}

/// The buffer of a direction.
pub(crate) fn finding(run: &Run, direction: Direction) -> Option<Finding> {
    Some(of_buffer(run, direction, estimate(&responses(bursts(run, direction)))?))
}

/// As [`finding`], without what follows from it.
pub(crate) fn measured_buffer(run: &Run, direction: Direction) -> Option<MeasuredBuffer> {
    match finding(run, direction)?.conclusion {
        Conclusion::MeasuredBuffer(measured) => Some(measured),
        _ => None,
    }
}

/// The buffer of a direction whose queue is known to drop only when it is full.
pub(crate) fn tail_drop(run: &Run, direction: Direction) -> Option<Finding> {
    Some(of_buffer(run, direction, estimate_tail_drop(&responses(bursts(run, direction)))?))
}

fn bursts(run: &Run, direction: Direction) -> impl Iterator<Item = &Burst> {
    run.bursts.iter().filter(move |burst| burst.direction == direction)
}

fn of_buffer(run: &Run, direction: Direction, buffer: Buffer) -> Finding {
    let waits: Vec<f64> = bursts(run, direction).flat_map(|burst| relative_waits(run, burst)).collect();
    let waits_apart = waits.len() >= MIN_PROBES && median(waits).is_some_and(|ratio| ratio < OTHER_QUEUE);
    let measured = MeasuredBuffer {
        marks: marks(&bursts(run, direction).collect::<Vec<_>>(), buffer.rule),
        ..measured(buffer, waits_apart || echo(run).is_some_and(|path| path.is_per_flow))
    };
    // Replies may have waited, or requests next to those of other flows.
    if echo(run).is_some_and(|path| !path.is_upload) {
        // Losses of two queues in a row follow no rule.
        let measured = MeasuredBuffer { is_bloated: false, rule: None, ..measured };
        return Finding::new(Conclusion::MeasuredBuffer(measured), None, Certainty::Possible);
    }
    let is_certain = !measured.is_lower_bound && measured.rule.is_some();
    let certainty = if is_certain { Certainty::Certain } else { Certainty::Likely };
    let shape = Remedy::shape(Some(direction), measured.rate_bits_per_second.value);
    let remedies = Vec::from_iter(measured.is_bloated.then_some(shape));
    Finding { remedies, ..Finding::new(Conclusion::MeasuredBuffer(measured), Some(direction), certainty) }
}

/// The path of echo requests; `None` if the receiver recorded arrivals.
fn echo(run: &Run) -> Option<EchoPath> {
    echo_path(&run.bursts.iter().collect::<Vec<_>>())
}

fn measured(buffer: Buffer, is_per_flow: bool) -> MeasuredBuffer {
    let measured = MeasuredBuffer {
        rate_bits_per_second: buffer.rate_bits_per_second,
        overhead_bytes: buffer.overhead_bytes,
        delay_s: buffer.delay_s,
        bytes: buffer.bytes,
        packets: buffer.packets,
        is_lower_bound: buffer.is_lower_bound,
        limit: buffer.limit,
        rule: buffer.rule,
        drops_early: buffer.drops_early,
        is_per_flow,
        bucket_bytes: buffer.bucket_bytes,
        marks: None,
        first: buffer.first,
        is_bloated: false,
    };
    let is_bloated = !measured.may_be_managed() && measured.delay_s >= threshold::BLOATED_P50_S;
    MeasuredBuffer { is_bloated, ..measured }
}

/// How long probes of another flow waited, relative to the datagrams of the burst at that time.
fn relative_waits(run: &Run, burst: &Burst) -> Vec<f64> {
    let Some(series) = run.series(&SeriesKey::of(Metric::UdpRtt)) else { return Vec::new() };
    let rtts: Vec<(u64, f64)> =
        series.iter().filter_map(|o| Some((o.at.as_nanos(), o.value.observed()?))).collect();
    let Some(base_s) = rtts.iter().map(|(_, rtt_s)| *rtt_s).min_by(f64::total_cmp) else { return Vec::new() };
    let waits = fathom_burst::waits(burst);
    let longest_s = waits.iter().map(|(_, wait_s)| *wait_s).fold(0.0, f64::max);
    let ratio = |(sent_ns, rtt_s): &(u64, f64)| {
        // A reply meets the queue of the download when it arrives.
        let at_ns = match burst.direction {
            Direction::Up => *sent_ns,
            Direction::Down => sent_ns + (rtt_s * 1e9) as u64,
        };
        let next = waits.partition_point(|(ns, _)| *ns < at_ns);
        let (after, before) = (waits.get(next)?, waits.get(next.checked_sub(1)?)?);
        let wait_s = before.1.min(after.1);
        let is_high = wait_s >= (HIGH * longest_s).max(HIGH_S) && after.0 - before.0 <= NEAR_NS;
        is_high.then(|| (rtt_s - base_s) / wait_s)
    };
    rtts.iter().filter_map(ratio).collect()
}
