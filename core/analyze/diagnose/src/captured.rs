//! Diagnosis of a run made of captures.
mod findings;
mod path;

use crate::{Diagnosis, Health};
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedQueue, Metric, ProbedDelay, Reason, Remedy, Run, SeriesKey};
use findings::is_bloated;

pub(crate) fn diagnose(run: &Run, capture: &Capture) -> Diagnosis {
    let health = judge(capture);
    let reason = (health == Health::Inconclusive).then(|| reason(capture));
    let findings = findings::findings(run, capture);
    let has_delay = run.series(&SeriesKey::of(Metric::QueueDelay)).is_some();
    Diagnosis {
        health,
        reason,
        advice: if health == Health::Bloated { advice(capture) } else { Vec::new() },
        latency_source: has_delay.then_some(Metric::QueueDelay),
        findings,
        ..Diagnosis::default()
    }
}

fn judge(capture: &Capture) -> Health {
    match capture.queues.first() {
        Some(_) if capture.queues.iter().any(is_bloated) => Health::Bloated,
        Some(queue) if hidden(queue).is_some() => Health::Inconclusive,
        Some(_) => Health::Healthy,
        None => Health::Inconclusive,
    }
}

/// Longest response time of an unloaded path that people do not notice in calls, one way and back
/// (ITU-T G.114: 150 ms one way at most, minus what the ends need). A queue that was always full
/// can hide in a longer one.
const UNNOTICED_S: f64 = 0.1;

/// The probes of a queue that may have been full during the whole capture.
fn hidden(queue: &CapturedQueue) -> Option<&ProbedDelay> {
    let probed = queue.probed.as_ref().filter(|probed| !probed.is_base_idle)?;
    (probed.min_s + queue.delay.p95_s > UNNOTICED_S).then_some(probed)
}

fn reason(capture: &Capture) -> Reason {
    let first = capture.queues.first();
    let hidden = first.and_then(|queue| Some((queue, hidden(queue)?)));
    if let Some((queue, probed)) = hidden
        && let Some(load) = probed.loads.first()
    {
        let rtt_p50_s = probed.min_s + queue.delay.median_s;
        return Reason::NeverIdle { from: load.from.clone(), to: probed.to.clone(), rtt_p50_s };
    }
    // More UDP than TCP: the question is about UDP.
    let tcp_bytes: u64 =
        capture.flows.iter().flat_map(|flow| &flow.sent).map(|side| side.payload_bytes).sum();
    match capture.datagrams.first().filter(|flow| flow.ip_bytes >= MIN_BYTES.max(tcp_bytes)) {
        Some(flow) => Reason::NoProbes {
            from: flow.from.clone(),
            to: flow.to.clone(),
            bits_per_second: flow.bits_per_second(),
        },
        None if capture.flow_count == 0 => Reason::NoTcp,
        None => Reason::NoQueueSeen { flows: capture.flow_count },
    }
}

/// Less UDP than this is no load, but name lookups and the like.
const MIN_BYTES: u64 = 64_000;

/// A shaper just before the link with the longest delay.
fn advice(capture: &Capture) -> Vec<Remedy> {
    let rate = capture.queues.first().and_then(|queue| queue.rate_bits_per_second);
    let shape = rate.map(|rate| Remedy::shape(None, rate.value));
    // Probes rarely show the rate of the link.
    let is_probed = capture.queues.first().is_some_and(|queue| queue.probed.is_some());
    shape.or_else(|| is_probed.then(|| Remedy::shape_at_unknown_rate(None))).into_iter().collect()
}
