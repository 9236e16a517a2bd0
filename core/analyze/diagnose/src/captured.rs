//! A run made of captures, in words.
mod findings;
mod path;
mod words;

use crate::health::{BLOATED_P50_S, BLOATED_P90_S};
use crate::{Diagnosis, Health};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedQueue, Metric, Run, SeriesKey};
use fathom_text::{bytes, milliseconds, rate};
use words::{manager, place, size, who};

/// A queue of this length delays nobody noticeably: DSLReports' grade A is below 30 ms.
const MODEST_S: f64 = 0.020;
/// Share of the rate to which a shaper before the queue is set.
const SHAPE: f64 = 0.95;

/// What the captures of `run` show.
pub(crate) fn diagnose(run: &Run, capture: &Capture) -> Diagnosis {
    let worst = capture.queues.first();
    let health = judge(capture);
    let (headline, verdict) = match (health, worst) {
        (Health::Bloated, Some(queue)) => (headline(capture, queue), bloated(queue)),
        (Health::Healthy, Some(queue)) => (healthy(queue), Vec::new()),
        _ => (nothing_to_tell(capture), capture.unknown.clone()),
    };
    let has_delay = run.series(&SeriesKey::of(Metric::QueueDelay)).is_some();
    Diagnosis {
        health,
        headline,
        headline_phase: None,
        verdict,
        latency_source: has_delay.then_some(Metric::QueueDelay),
        grade: None,
        phases: Vec::new(),
        findings: findings::findings(capture),
    }
}

/// As for a line under load: its median, or what one moment in twenty brings.
pub(crate) fn is_bloated(queue: &CapturedQueue) -> bool {
    let [_, middle, high, _] = queue.delay_s;
    middle >= BLOATED_P50_S || high >= BLOATED_P90_S
}

fn judge(capture: &Capture) -> Health {
    match capture.queues.first() {
        Some(_) if capture.queues.iter().any(is_bloated) => Health::Bloated,
        Some(_) => Health::Healthy,
        None => Health::Inconclusive,
    }
}

fn headline(capture: &Capture, queue: &CapturedQueue) -> String {
    let [_, middle, high, _] = queue.delay_s;
    format!(
        "{} filled {}{}: whatever came behind waited {} in the middle, {} for one packet in twenty.",
        who(capture, queue),
        manager(queue),
        size(queue),
        milliseconds(middle),
        milliseconds(high)
    )
}

fn bloated(queue: &CapturedQueue) -> Vec<String> {
    let path = queue.base_rtt_s.map(|base| {
        let times = (queue.delay_s[1] + base) / base.max(1e-6);
        let times = if times < 500.0 {
            format!(", {times:.0} times less than under this load")
        } else {
            String::new()
        };
        format!("The path itself takes {} there and back{times}.", milliseconds(base))
    });
    let found = format!("The queue is {}.", place(queue));
    let advice = queue.rate_bits_per_second.map(|link| {
        format!(
            "A queue of {} would need only {}. To try: shape to {} just before it, with CAKE or fq_codel; then capture again.",
            milliseconds(MODEST_S),
            bytes(MODEST_S * link.value / 8.0),
            rate(SHAPE * link.value)
        )
    });
    path.into_iter().chain([found]).chain(advice).collect()
}

fn healthy(queue: &CapturedQueue) -> String {
    format!(
        "No queue to complain of: the longest stood at {} in the middle, {} for one packet in twenty, {}.",
        milliseconds(queue.delay_s[1]),
        milliseconds(queue.delay_s[2]),
        place(queue)
    )
}

fn nothing_to_tell(capture: &Capture) -> String {
    match capture.flow_count {
        0 => "No verdict: no TCP in this capture.".to_string(),
        1 => "No verdict: the one TCP flow in this capture does not tell of a queue.".to_string(),
        n => format!("No verdict: none of the {n} TCP flows in this capture tells of a queue."),
    }
}
