//! Changes of a link's rate under load: a burst that is served faster, radio links, policers.
use crate::delivery::capacity;
use crate::view::View;
use alloc::vec::Vec;
use fathom_capacity::RateSpan;
use fathom_run::{Certainty, Conclusion, Finding, Metric, RateChange, SeriesKey, Span, Statistic};
use fathom_units::Direction;

/// Smaller changes do not matter: a shaper stays 5 to 15 % below the rate anyway.
const REPORTED_RATIO: f64 = 1.2;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|direction| finding(view, direction)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let rise = view.rise_of(direction)?;
    let spans = capacity(view, direction, &rise)?.spans;
    let (first, last) = (spans.first()?, spans.last()?);
    let rates = || spans.iter().map(|span| span.bits_per_second);
    let (lowest, highest) = (rates().min_by(f64::total_cmp)?, rates().max_by(f64::total_cmp)?);
    if highest < REPORTED_RATIO * lowest {
        return None;
    }
    let start_ns = rise.phase.start_ns;
    let change = RateChange {
        phase: rise.phase.kind,
        first_bits_per_second: first.bits_per_second,
        last_bits_per_second: last.bits_per_second,
        lowest_bits_per_second: lowest,
        highest_bits_per_second: highest,
        change_count: spans.len() as u64 - 1,
        last_change_s: (last.from_ns - start_ns as f64).max(0.0) / 1e9,
    };
    let goodput = SeriesKey::directed(Metric::Goodput, direction);
    let mut finding = Finding::new(Conclusion::RateChange(change), Some(direction), Certainty::Likely)
        .with_evidence(view.evidence(&goodput, rise.phase, Statistic::Max));
    finding.spans = spans.iter().rev().map(span).collect();
    Some(finding)
}

fn span(rate: &RateSpan) -> Span {
    Span { start_ns: rate.from_ns as u64, end_ns: rate.to_ns as u64 }
}
