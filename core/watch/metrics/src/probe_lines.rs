//! The series of a target: a histogram of its delays, and counters of its probes.
use crate::{Family, Line, Point, Value};
use fathom_watch_samples::{Tally, Window};

const OUTCOMES: [&str; 4] = ["answered", "late", "lost", "failed"];

fn count_of(outcome: &str, tally: &Tally) -> u64 {
    match outcome {
        "answered" => tally.answered,
        "late" => tally.late,
        "lost" => tally.lost,
        _ => tally.failed,
    }
}

/// Passes a histogram and six counters to `take`. The points have cumulative counts and their time
/// in milliseconds; without counts they end the series.
///
/// # Errors
/// The first one of `take`.
pub fn each_probe_line<E>(
    labels: &[(&str, &str)],
    since_ms: u64,
    points: &[(u64, Option<Window>)],
    take: &mut impl FnMut(&Line<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if points.is_empty() {
        return Ok(());
    }
    let mut one = |family, outcome, value: &dyn Fn(&Window) -> Value| {
        let point = |(at_ms, counted): &(u64, Option<Window>)| Point {
            at_ms: *at_ms,
            value: counted.as_ref().map_or(Value::Ended, value),
        };
        let labels = labels.iter().copied().chain([("outcome", outcome)]).collect();
        take(&Line { family, labels, since_ms, points: points.iter().map(point).collect() })
    };
    one(&Family::RTT, "", &|counted| Value::Histogram(counted.sketch.clone()))?;
    for outcome in OUTCOMES {
        one(&Family::PROBES, outcome, &|counted| Value::Number(count_of(outcome, &counted.tally) as f64))?;
    }
    one(&Family::DUPLICATES, "", &|counted| Value::Number(counted.tally.duplicates as f64))?;
    one(&Family::REORDERED, "", &|counted| Value::Number(counted.tally.reordered as f64))
}
