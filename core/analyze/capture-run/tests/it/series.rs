//! A run of the bloated upload contains time series of its flows, which agree with their totals.
use crate::capture::{bloated_upload, trace};
use fathom_bottleneck::QueueWatch;
use fathom_flow::Flows;
use fathom_run::{Metric, Run, Series};

fn of(name: &str) -> (Flows, Run) {
    let (flows, watch) = trace(&bloated_upload(name), QueueWatch::new());
    let run = fathom_capture_run::run(Vec::new(), &flows, &watch.finish());
    (flows, run)
}

/// A series of the upload, which is the third flow.
fn series<'a>(run: &'a Run, metric: Metric, scope: &str) -> &'a Series {
    let is_it = |series: &&Series| {
        series.key.metric == metric
            && series.key.flow == Some(3)
            && series.key.scope.as_deref() == Some(scope)
    };
    run.series.iter().find(is_it).unwrap_or_else(|| panic!("{metric:?} {scope}"))
}

fn extremes(series: &Series) -> (f64, f64) {
    let least = series.values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, series.values.iter().copied().fold(0.0, f64::max))
}

fn off(seen: f64, truth: f64) -> f64 {
    (seen / truth - 1.0).abs()
}

#[test]
fn round_trips_are_reported_for_both_sides_of_the_capture_point() {
    let (flows, run) = of("snd");
    let totals = &flows.flows[2].totals()[0].rtt;
    let (least, most) = extremes(series(&run, Metric::PassiveRtt, "capture to 10.7.0.2 and back"));
    // By sequence numbers and timestamps: reducing to a few hundred points keeps the extremes.
    let tallies = [totals.sequence.moments(), totals.timestamps.moments()];
    let seen_least = tallies.iter().map(|tally| tally.min).min().unwrap_or(0) as f64 / 1e9;
    let seen_most = tallies.iter().map(|tally| tally.max).max().unwrap_or(0) as f64 / 1e9;
    assert!(off(least, seen_least) < 0.1 && off(most, seen_most) < 1e-6, "{least} {most}");
    let (_, behind) = of("rcv");
    let near = series(&behind, Metric::PassiveRtt, "capture to 10.7.0.2 and back");
    assert!(extremes(near).0 < 0.001, "the receiver is next to the capture: {near:?}");
    // The receiver's data is an ACK that waits for the sender's next segment, through the queue.
    let far = series(&behind, Metric::PassiveRtt, "capture to 10.7.0.1 and back");
    assert!(extremes(far).1 > 0.9, "{far:?}");
}

#[test]
fn series_of_bytes_in_flight_and_goodput_match_the_totals() {
    let (flows, run) = of("snd");
    let totals = flows.flows[2].totals()[0];
    let way = "10.7.0.1:33632 to 10.7.0.2:5201";
    let outstanding = series(&run, Metric::Outstanding, way);
    assert_eq!(extremes(outstanding).1, totals.outstanding_bytes.max as f64);
    let goodput = series(&run, Metric::Goodput, way);
    let mut before = goodput.at_ns[0].saturating_sub(goodput.at_ns[1] - goodput.at_ns[0]);
    let mut bytes = 0.0;
    for (at, rate) in goodput.at_ns.iter().zip(&goodput.values) {
        bytes += rate / 8.0 * (at - before) as f64 / 1e9;
        before = *at;
    }
    // Without the data in flight at the start of sampling and at the end of the capture.
    assert!(off(bytes, totals.unique_bytes as f64) < 0.01, "{bytes} of {}", totals.unique_bytes);
}

#[test]
fn flows_and_points_are_limited_and_the_run_is_valid() {
    for name in ["snd", "rcv"] {
        let (_, run) = of(name);
        run.check().unwrap();
        let of_flows = || run.series.iter().filter(|series| series.key.flow.is_some());
        assert!(of_flows().all(|series| (1..=512).contains(&series.values.len())), "{name}");
        let mut numbers: Vec<_> = of_flows().filter_map(|series| series.key.flow).collect();
        assert_eq!(numbers.first(), Some(&3), "{name}: the largest first");
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, [1, 2, 3], "{name}");
    }
}
