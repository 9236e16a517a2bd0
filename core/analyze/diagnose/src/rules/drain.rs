//! How long the queue took to empty after the load.
use crate::rules::growth::WORTH_TELLING_S;
use crate::view::{Rise, View};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{PhaseKind, Value};
use fathom_text::seconds;

/// A queue counts as empty when this share of its height is left, or 10 ms.
const EMPTY: f64 = 0.1;
const EMPTY_S: f64 = 0.010;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    finding(view).into_iter().collect()
}

fn finding(view: &View<'_>) -> Option<Finding> {
    let drain = view.run.phase(PhaseKind::Drain)?;
    let before = view.rises().filter(|r| r.phase.end_ns <= drain.start_ns).last();
    let before: Rise<'_> = before.filter(|r| r.p90() >= WORTH_TELLING_S)?;
    let empty = before.idle.p50.value + (EMPTY * before.height()).max(EMPTY_S);
    let empty_at = view.latency_in(drain).find(|o| matches!(o.value, Value::Observed(v) if v <= empty));
    let (text, time) = match empty_at {
        Some(o) => {
            let time = (o.at.as_nanos() - drain.start_ns) as f64 / 1e9;
            (format!("The queue took {} to empty after the load ended.", seconds(time)), time)
        }
        None => {
            let time = drain.seconds();
            (format!("The queue was not empty {} after the load ended.", seconds(time)), time)
        }
    };
    let finding = Finding::new(FindingKind::Drain, None, Confidence::Medium, text)
        .evidence("time until latency was back", time, "s")
        .evidence("latency that counts as back", empty, "s");
    Some(finding)
}
