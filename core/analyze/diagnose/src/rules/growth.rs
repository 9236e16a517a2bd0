//! Time that the queue takes to fill.
use crate::outage::outages;
use crate::sample::pair;
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, FillTime, Finding, Phase, Statistic};
use fathom_stats::Sample;
use fathom_units::Time;

/// Window for the medians of the curve: several probes each, and short compared with any fill time.
const WINDOW_NS: u64 = 200_000_000;
/// Share of its final height at which a queue counts as full.
const FULL: f64 = 0.9;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let is_reported = |rise: &Rise<'_>| rise.p90() >= REPORTED_INCREASE_S && !is_an_outage(view, rise);
    view.rises().filter(is_reported).filter_map(|rise| finding(view, &rise)).collect()
}

/// Whether the height is the duration of an outage instead of a queue.
fn is_an_outage(view: &View<'_>, rise: &Rise<'_>) -> bool {
    outages(view, rise).iter().any(|outage| outage.seconds() >= rise.height() / 2.0)
}

fn finding(view: &View<'_>, rise: &Rise<'_>) -> Option<Finding> {
    let curve = curve(view, rise.phase);
    let delay_p95_s = rise.height();
    let full = rise.idle.p50.value + FULL * delay_p95_s;
    let (fill_s, _) = *curve.iter().find(|(_, value)| *value >= full)?;
    let growth_ratio = FULL * delay_p95_s / fill_s;
    let fill = FillTime { phase: rise.phase.kind, fill_s, delay_p95_s, growth_ratio };
    let finding = Finding::new(Conclusion::FillTime(fill), None, Certainty::Likely)
        .with_evidence(view.latency_evidence(rise.phase, Statistic::Percentile(0.95)));
    Some(finding)
}

/// Median latency of each window with probes, by its end in seconds since the phase started; empty
/// if their times are unknown.
pub(super) fn curve(view: &View<'_>, phase: &Phase) -> Vec<(f64, f64)> {
    let Some(source) = view.source.filter(|_| view.has_times()) else { return Vec::new() };
    let windows = (phase.end_ns - phase.start_ns) / WINDOW_NS;
    // A longer phase is a log of days; the queue fills at its start.
    let windows = windows.min(10_000);
    let mut observations = source.within(phase).peekable();
    (1..=windows)
        .filter_map(|i| {
            let end = Time::from_nanos(phase.start_ns + i * WINDOW_NS);
            let mut values = Vec::new();
            while let Some(o) = observations.next_if(|o| o.at < end) {
                values.push(pair(o.value));
            }
            let median = Sample::new(values).percentile(0.5)?;
            Some(((i * WINDOW_NS) as f64 / 1e9, median.value))
        })
        .collect()
}
