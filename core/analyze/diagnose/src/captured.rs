//! Diagnosis of a run made of captures.
mod findings;
mod path;

use crate::{Diagnosis, Health};
use alloc::vec::Vec;
use fathom_run::{Capture, Metric, Reason, Remedy, Run, SeriesKey, threshold};
use findings::is_bloated;

pub(crate) fn diagnose(run: &Run, capture: &Capture) -> Diagnosis {
    let health = judge(capture);
    let findings = findings::findings(run, capture);
    let has_delay = run.series(&SeriesKey::of(Metric::QueueDelay)).is_some();
    Diagnosis {
        health,
        reason: (health == Health::Inconclusive).then_some(match capture.flow_count {
            0 => Reason::NoTcp,
            flows => Reason::NoQueueSeen { flows },
        }),
        advice: if health == Health::Bloated { advice(capture) } else { Vec::new() },
        latency_source: has_delay.then_some(Metric::QueueDelay),
        findings,
        ..Diagnosis::default()
    }
}

fn judge(capture: &Capture) -> Health {
    match capture.queues.first() {
        Some(_) if capture.queues.iter().any(is_bloated) => Health::Bloated,
        Some(_) => Health::Healthy,
        None => Health::Inconclusive,
    }
}

/// A shaper just before the link with the longest delay.
fn advice(capture: &Capture) -> Vec<Remedy> {
    let rate = capture.queues.first().and_then(|queue| queue.rate_bits_per_second);
    let shape = rate.map(|rate| {
        let [min, max] = threshold::shaper_rates(rate.value);
        Remedy::Shape { direction: None, min_bits_per_second: Some(min), max_bits_per_second: Some(max) }
    });
    shape.into_iter().collect()
}
