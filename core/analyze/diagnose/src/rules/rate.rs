//! Changes of a link's rate under load: a burst that is served faster, radio links, policers.
use crate::delivery::{Capacity, capacity};
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_capacity::{RateSpan, Spread};
use fathom_run::{Certainty, Conclusion, Finding, Metric, RateChange, SeriesKey, Span, Statistic};
use fathom_units::Direction;

/// Smaller changes do not matter: a shaper stays 5 to 15 % below the rate anyway.
const REPORTED_RATIO: f64 = 1.2;
/// Least ratio of the 90th to the 25th percentile of the rates over short times.
const VARYING_RATIO: f64 = 1.25;
/// Fewer rates show no distribution.
const MIN_PIECES: usize = 16;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|direction| finding(view, direction)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let rise = view.rise_of(direction)?;
    let capacity = capacity(view, direction, &rise)?;
    let change = changes(&capacity, &rise).or_else(|| variation(&capacity, &rise))?;
    let goodput = SeriesKey::directed(Metric::Goodput, direction);
    let mut finding = Finding::new(Conclusion::RateChange(change), Some(direction), Certainty::Likely)
        .with_evidence(view.evidence(&goodput, rise.phase, Statistic::Max));
    finding.spans = capacity.spans.iter().rev().map(span).collect();
    Some(finding)
}

/// Whether the rate changed so much that this is reported.
pub(super) fn is_reported(capacity: &Capacity) -> bool {
    extremes(capacity).is_some()
}

/// The lowest and the highest rate that lasted, if they differ enough.
fn extremes(capacity: &Capacity) -> Option<(f64, f64)> {
    let rates = || capacity.spans.iter().map(|span| span.bits_per_second);
    let (lowest, highest) = (rates().min_by(f64::total_cmp)?, rates().max_by(f64::total_cmp)?);
    (highest >= REPORTED_RATIO * lowest).then_some((lowest, highest))
}

/// Rates that lasted for some time.
fn changes(capacity: &Capacity, rise: &Rise<'_>) -> Option<RateChange> {
    let spans = &capacity.spans;
    let (first, last) = (spans.first()?, spans.last()?);
    let (lowest, highest) = extremes(capacity)?;
    Some(RateChange {
        phase: rise.phase.kind,
        first_bits_per_second: first.bits_per_second,
        last_bits_per_second: last.bits_per_second,
        lowest_bits_per_second: lowest,
        highest_bits_per_second: highest,
        change_count: spans.len() as u64 - 1,
        last_change_s: (last.from_ns - rise.phase.start_ns as f64).max(0.0) / 1e9,
    })
}

/// A rate that varied all the time, as on a radio link.
fn variation(capacity: &Capacity, rise: &Rise<'_>) -> Option<RateChange> {
    let Spread { count, p10, p25, p90, .. } = capacity.spread?;
    // While senders pause, a steady link looks slower, but never faster.
    (count >= MIN_PIECES && p90 >= VARYING_RATIO * p25).then_some(RateChange {
        phase: rise.phase.kind,
        first_bits_per_second: capacity.payload_bits_per_second,
        last_bits_per_second: capacity.payload_bits_per_second,
        lowest_bits_per_second: p10,
        highest_bits_per_second: p90,
        change_count: 0,
        last_change_s: 0.0,
    })
}

fn span(rate: &RateSpan) -> Span {
    Span { start_ns: rate.from_ns as u64, end_ns: rate.to_ns as u64 }
}
