//! Flows of a capture: their curves, and what a comparison has of them.
use crate::curve::Curve;
use crate::quantity::{Quantity, Unit};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedFlow, CapturedSide, Metric, Run, Series};

/// Curves of one chart: more are a tangle, and the legend has no room for their names.
const CURVES: usize = 4;
/// A curve that never reaches this share of the highest is a line at zero.
const MIN_SHARE: f64 = 0.02;
/// If the median of one side of a flow is less than this share of the other side's, that side is
/// the host next to the capture.
const MAX_SHARE_OF_OTHERS: f64 = 0.1;
/// Longest name in a legend.
const NAME: usize = 26;

/// A flow's curve, and what the legend calls it.
pub(crate) struct FlowCurve {
    pub(crate) name: String,
    pub(crate) curve: Curve,
}

/// Round trips in ms, except those to a host next to the capture.
pub(crate) fn round_trips(run: &Run) -> Vec<FlowCurve> {
    let mut found = found(run, Metric::PassiveRtt, 1e3);
    let medians: Vec<(Option<u32>, f64)> =
        found.iter().map(|(series, curve)| (series.key.flow, curve.median())).collect();
    let is_beside = |own: &(Option<u32>, f64)| {
        medians.iter().any(|(flow, median)| *flow == own.0 && own.1 < MAX_SHARE_OF_OTHERS * median)
    };
    let mut own = medians.iter();
    found.retain(|_| own.next().is_none_or(|own| !is_beside(own)));
    named(found)
}

/// Outstanding data in kB.
pub(crate) fn outstanding(run: &Run) -> Vec<FlowCurve> {
    named(found(run, Metric::Outstanding, 1e-3))
}

/// Goodput in Mbit/s.
pub(crate) fn goodput(run: &Run) -> Vec<FlowCurve> {
    named(found(run, Metric::Goodput, 1e-6))
}

/// The highest value of some curves, with or without rare spikes.
pub(crate) fn highest(curves: &[FlowCurve], of: fn(&Curve) -> f64) -> f64 {
    curves.iter().map(|flow| of(&flow.curve)).fold(0.0, f64::max)
}

/// The flows' series of a metric, as curves.
fn found(run: &Run, metric: Metric, unit: f64) -> Vec<(&Series, Curve)> {
    if run.capture.is_none() {
        return Vec::new();
    }
    let is_flow = |series: &&Series| series.key.metric == metric && series.key.flow.is_some();
    let all = run.series.iter().filter(is_flow);
    all.map(|series| (series, Curve::of_series(series).scaled(unit))).collect()
}

/// The first few that are more than a line at zero, with their names.
fn named(mut found: Vec<(&Series, Curve)>) -> Vec<FlowCurve> {
    let high = |curve: &Curve| curve.range().map_or(0.0, |range| range.1);
    let highest = found.iter().map(|(_, curve)| high(curve)).fold(0.0, f64::max);
    found.retain(|(_, curve)| !curve.is_empty() && high(curve) >= MIN_SHARE * highest);
    found.truncate(CURVES);
    let names: Vec<String> = found.iter().map(|(series, _)| name(series, &found)).collect();
    let both = names.into_iter().zip(found);
    both.map(|(name, (_, curve))| FlowCurve { name, curve }).collect()
}

/// The flow's number; with its end where both of its ends or ways are shown.
fn name(series: &Series, others: &[(&Series, Curve)]) -> String {
    let number = series.key.flow.unwrap_or(0);
    let same = others.iter().filter(|(other, _)| other.key.flow == series.key.flow).count();
    let place = match (same, series.key.scope.as_deref()) {
        (2.., Some(scope)) => match scope.strip_prefix("capture to ") {
            Some(end) => format!(" to {}", end.trim_end_matches(" and back")),
            None => format!(" from {}", scope.split(" to ").next().unwrap_or(scope)),
        },
        _ => String::new(),
    };
    fathom_layout::clip(&fathom_layout::clean(&format!("flow {number}{place}")), NAME)
}

/// What a comparison of captures has: the longest queue, and the largest flow.
pub(crate) fn quantities(runs: &[&Run]) -> Vec<Quantity> {
    let captures: Vec<Option<&Capture>> = runs.iter().map(|run| run.capture.as_deref()).collect();
    let of_queue = QUEUE.iter().map(|(name, unit, less_is_better, pick)| Quantity {
        group: "longest queue".into(),
        name: (*name).into(),
        unit: *unit,
        less_is_better: *less_is_better,
        values: captures.iter().map(|capture| pick((*capture)?)).collect(),
    });
    let of_flow = FLOW.iter().map(|(name, unit, less_is_better, pick)| Quantity {
        group: "largest flow".into(),
        name: (*name).into(),
        unit: *unit,
        less_is_better: *less_is_better,
        values: captures.iter().map(|capture| pick(larger((*capture)?.flows.first()?))).collect(),
    });
    of_queue.chain(of_flow).filter(|row| row.values.iter().any(Option::is_some)).collect()
}

/// The direction with more payload.
fn larger(flow: &CapturedFlow) -> &CapturedSide {
    let [a, b] = &flow.sent;
    if a.payload_bytes >= b.payload_bytes { a } else { b }
}

type OfQueue = fn(&Capture) -> Option<f64>;
type OfFlow = fn(&CapturedSide) -> Option<f64>;

/// Name, unit, whether less is better, and where it is found.
const QUEUE: [(&str, Unit, bool, OfQueue); 6] = [
    ("delay, median", Unit::Milliseconds, true, |c| Some(c.queues.first()?.delay.median_s)),
    ("delay, p95", Unit::Milliseconds, true, |c| Some(c.queues.first()?.delay.p95_s)),
    ("delay, max", Unit::Milliseconds, true, |c| Some(c.queues.first()?.delay.max_s)),
    ("rate of the link", Unit::Rate, false, |c| Some(c.queues.first()?.rate_bits_per_second?.value)),
    ("buffer", Unit::Bytes, true, |c| Some(c.queues.first()?.buffer_bytes?.value)),
    ("packets lost", Unit::Count, true, |c| Some(c.queues.first()?.lost_packets as f64)),
];

const FLOW: [(&str, Unit, bool, OfFlow); 6] = [
    ("goodput", Unit::Rate, false, |side| side.goodput_bits_per_second),
    ("round trip from the capture, min", Unit::Milliseconds, true, |side| Some(side.rtt?.min_s)),
    ("round trip from the capture, median", Unit::Milliseconds, true, |side| Some(side.rtt?.p50_s)),
    ("round trip from the capture, p95", Unit::Milliseconds, true, |side| Some(side.rtt?.p95_s)),
    ("outstanding data, max", Unit::Bytes, true, |side| Some(side.max_outstanding_bytes as f64)),
    ("retransmitted", Unit::Ratio, true, |side| {
        Some(side.retransmissions.packets() as f64 / side.packets.max(1) as f64)
    }),
];
