//! Latency of the probes of a phase: what counts for a lost probe, and where a phase becomes
//! steady.
use crate::sample::pair;
use alloc::vec::Vec;
use fathom_run::{Observation, Series, Span, Value};
use fathom_stats::{Held, Summary, median, summary_over_time, times_held};
use fathom_units::Time;

/// Latency over time of the probes sent within `span`: each stands for half of the interval before
/// it and half of that after it, because probes are less frequent while the line is slower.
///
/// A probe is lost if a later one was answered. It counts with the mean latency of the answered
/// probes around it; without it, the times when the queue was full would be missing. The response
/// to a probe after the last answered one may still arrive, so only a lower bound is known.
pub(crate) fn answered(source: &Series, span: Span) -> Option<Summary> {
    let (start, end) = (Time::from_nanos(span.start_ns), Time::from_nanos(span.end_ns));
    let sent_ns: Vec<u64> = source.between(start, end).map(|o| o.at.as_nanos()).collect();
    let mut values = Vec::new();
    let (mut before, mut lost) = (None, 0_usize);
    for observation in source.between(start, end) {
        let Value::Observed(value) = observation.value else {
            lost += 1;
            continue;
        };
        let between = before.map_or(value, |before| f64::midpoint(before, value));
        values.extend(core::iter::repeat_n((between, false), lost).chain([(value, false)]));
        (before, lost) = (Some(value), 0);
    }
    let is_last = source.between(end, Time::MAX).all(|o| pair(o.value).1);
    if is_last {
        let unanswered = source.between(start, end).map(|o| pair(o.value)).skip(values.len());
        values.extend(unanswered);
    } else {
        values.extend(before.into_iter().flat_map(|value| core::iter::repeat_n((value, false), lost)));
    }
    let held = values.into_iter().zip(times_held(&sent_ns));
    let held: Vec<Held> = held.map(|((value, censored), time)| Held { value, censored, time }).collect();
    summary_over_time(&held)
}

/// Shortest latency of a run, in seconds.
pub(crate) fn shortest(source: &Series) -> Option<f64> {
    source.iter().filter_map(|o| o.value.observed()).min_by(f64::total_cmp)
}

/// Number of probes sent within `span` that were lost, and of all whose outcome is known.
///
/// A probe is lost if a later one was answered, or if it was waited for much longer than any other
/// took. Otherwise it may still be in a queue.
pub(crate) fn losses(series: &Series, span: Span) -> (usize, usize) {
    let answered = || series.iter().filter_map(|o| o.value.observed().map(|value| (o.at, value)));
    let last = answered().map(|(at, _)| at).max().unwrap_or(Time::ZERO);
    let patience_s = PATIENCE * answered().map(|(_, value)| value).fold(0.0, f64::max) + PATIENCE_S;
    let (mut lost, mut known) = (0, 0);
    for probe in series.between(Time::from_nanos(span.start_ns), Time::from_nanos(span.end_ns)) {
        let is_lost = match probe.value {
            Value::Observed(_) => false,
            Value::Censored { at_least } if probe.at < last || at_least > patience_s => true,
            Value::Censored { .. } => continue,
        };
        (lost, known) = (lost + usize::from(is_lost), known + 1);
    }
    (lost, known)
}

/// A probe is lost after this multiple of the longest delay, and this time in seconds.
const PATIENCE: f64 = 2.0;
const PATIENCE_S: f64 = 1.0;

/// Maximum of the medians of three consecutive observed values, with the time of the middle one. A
/// single value may be an outlier of the host.
pub(crate) fn longest(observations: impl Iterator<Item = Observation>) -> Option<(Time, f64)> {
    let values: Vec<(Time, f64)> = observations.filter_map(|o| Some((o.at, o.value.observed()?))).collect();
    let middle = |three: &[(Time, f64)]| Some((three[1].0, median(three.iter().map(|o| o.1))?));
    values.windows(3).filter_map(middle).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Length of the intervals whose medians are compared, ns.
const BUCKET_NS: u64 = 500_000_000;
/// A start-up is reported if the latency added during it exceeds that of the steady state by this
/// factor and by this time, in seconds.
const START_RATIO: f64 = 2.0;
const START_S: f64 = 0.030;
/// A longer start is no start-up, in buckets: people notice it whenever a transfer starts, and in a
/// phase of 30 s it is a tenth of the time.
const LONGEST_START: usize = 6;

/// The start of a phase, if its latency is not that of the rest. `idle_s` is the latency without
/// load.
///
/// It ends when the median of a bucket is no longer above all medians in the second half of the
/// phase. A queue that grows is no start-up: that it grows is what matters. A start-up needs three
/// responses, because a single value may be an outlier of the host.
pub(crate) fn start_up(source: &Series, phase: Span, idle_s: f64) -> Option<Span> {
    let medians = medians(source, phase);
    let highest_s = medians[medians.len() / 2..].iter().copied().fold(0.0, f64::max);
    let steady = medians.iter().take_while(|median| **median > highest_s).count();
    let start_s = mean(&medians[..steady]) - idle_s;
    let steady_s = mean(&medians[steady..]) - idle_s;
    let is_higher = (1..=LONGEST_START).contains(&steady)
        && start_s > START_RATIO * steady_s
        && start_s - steady_s > START_S;
    let end_ns = phase.start_ns + steady as u64 * BUCKET_NS;
    let start = Span { start_ns: phase.start_ns, end_ns };
    let (from, to) = (Time::from_nanos(start.start_ns), Time::from_nanos(end_ns));
    (is_higher && longest(source.between(from, to)).is_some()).then_some(start)
}

/// Median latency in each bucket; one without answers has the median of the one before it.
fn medians(source: &Series, phase: Span) -> Vec<f64> {
    // A longer phase is a log of days, which has no start-up.
    let buckets = (phase.length_ns() / BUCKET_NS).min(1_000);
    let mut medians: Vec<f64> = Vec::new();
    for bucket in 0..buckets {
        let start_ns = phase.start_ns + bucket * BUCKET_NS;
        let span = source.between(Time::from_nanos(start_ns), Time::from_nanos(start_ns + BUCKET_NS));
        medians.extend(median(span.filter_map(|o| o.value.observed())).or(medians.last().copied()));
    }
    medians
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
