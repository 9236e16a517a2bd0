//! Converts time series of queues and flows.
use crate::flow::socket;
use crate::unknown::location;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_bottleneck::{FlowSeries, Queues, Spread};
use fathom_flow::missing_end;
use fathom_flow::{End, FlowId, Flows};
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::Time;

/// All time series, of at most `max` queues.
pub(crate) fn all(flows: &Flows, queues: &Queues, max: usize) -> Vec<Series> {
    // If only one end of a flow was captured, all its data would seem to be in flight.
    let is_known = |id: FlowId, series: &Series| {
        let flow = flows.flows.iter().find(|flow| flow.id == id);
        series.key.metric != Metric::Outstanding || flow.is_none_or(|flow| missing_end(flow).is_none())
    };
    let of_known = |flow: &FlowSeries| {
        of_flow(flow)
            .into_iter()
            .filter(|series| !series.values.is_empty() && is_known(flow.flow, series))
            .collect()
    };
    let mut all = of_queues(queues, max);
    all.extend(queues.series.iter().flat_map::<Vec<Series>, _>(of_known));
    all
}

/// Delay of each queue; that of the first queue also without a scope.
fn of_queues(queues: &Queues, max: usize) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (number, bottleneck) in queues.bottlenecks.iter().take(max).enumerate() {
        let scope = Some(location(bottleneck, queues));
        let mut series = Series::new(SeriesKey { scope, ..SeriesKey::of(Metric::QueueDelay) });
        for point in &bottleneck.delays {
            push(&mut series, point.at_ns, point.max_ns / 1e9);
        }
        if number == 0 {
            all.push(Series { key: SeriesKey::of(Metric::QueueDelay), ..series.clone() });
        }
        all.push(series);
    }
    for (number, probed) in queues.probed.iter().take(max).enumerate() {
        let scope = Some(format!("capture to {} and back", probed.ends[1]));
        let mut series = Series::new(SeriesKey { scope, ..SeriesKey::of(Metric::QueueDelay) });
        for point in &probed.delays {
            push(&mut series, point.at_ns, point.max_ns / 1e9);
        }
        if number == 0 && queues.bottlenecks.is_empty() {
            all.push(Series { key: SeriesKey::of(Metric::QueueDelay), ..series.clone() });
        }
        all.push(series);
    }
    all
}

/// Round-trip times to both ends, then the data sent by each end.
fn of_flow(flow: &FlowSeries) -> Vec<Series> {
    let [a, b] = flow.ends.map(socket);
    let key = |metric, scope| SeriesKey {
        flow: Some(flow.flow.number()),
        scope: Some(scope),
        ..SeriesKey::of(metric)
    };
    let mut all: Vec<Series> = Vec::new();
    for end in [End::B, End::A] {
        let place = format!("capture to {} and back", flow.ends[end as usize].0);
        let mut trips = Series::new(key(Metric::PassiveRtt, place));
        for spread in &flow.round_trips[end as usize] {
            both(&mut trips, spread, 1e9);
        }
        all.push(trips);
    }
    for (end, way) in [(End::A, format!("{a} to {b}")), (End::B, format!("{b} to {a}"))] {
        let sent = &flow.sent[end as usize];
        let mut outstanding = Series::new(key(Metric::Outstanding, String::clone(&way)));
        sent.outstanding.iter().for_each(|spread| both(&mut outstanding, spread, 1.0));
        let mut goodput = Series::new(key(Metric::Goodput, way));
        sent.goodput.iter().for_each(|(at, rate)| push(&mut goodput, *at, libm::round(*rate)));
        all.extend([outstanding, goodput]);
    }
    all
}

/// Adds minimum and maximum of an interval, or the single value if they are equal.
fn both(series: &mut Series, spread: &Spread, unit: f64) {
    push(series, spread.at_ns, libm::round(spread.min) / unit);
    if spread.max > spread.min {
        push(series, spread.at_ns, libm::round(spread.max) / unit);
    }
}

fn push(series: &mut Series, at_ns: f64, value: f64) {
    let at = Time::from_nanos(at_ns.max(0.0) as u64);
    series.push(Observation { at, value: Value::Observed(value.max(0.0)) });
}
