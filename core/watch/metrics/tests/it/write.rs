//! Remote-write, both versions.
use crate::random_sketch;
use crate::read::{Histogram, Request2, Sample, WriteRequest};
use fathom_units::Rng;
use fathom_watch_metrics::{Family, Line, Point, Request, Value, Write1, Write2};
use fathom_watch_samples::Sketch;
use prost::Message;

/// The buckets of the history in a native histogram.
fn buckets(histogram: &Histogram) -> Vec<(i32, u64)> {
    let (mut all, mut place, mut count) = (Vec::new(), 0, 0_i64);
    let mut deltas = histogram.positive_deltas.iter();
    for span in &histogram.positive_spans {
        place += span.offset;
        for _ in 0..span.length {
            count += deltas.next().expect("a delta a bucket");
            all.push((place, count as u64));
            place += 1;
        }
    }
    assert_eq!(deltas.next(), None, "a bucket a delta");
    all.retain(|(_, times)| *times > 0);
    all
}

fn line(family: &'static Family, values: &[(u64, Value)]) -> Line<'static> {
    let points = values.iter().cloned().map(|(at_ms, value)| Point { at_ms, value }).collect();
    Line {
        family,
        labels: vec![("target", "a b"), ("group", ""), ("probe", "icmp")],
        since_ms: 1_000,
        points,
    }
}

fn labels1(labels: &[crate::read::Label]) -> Vec<(&str, &str)> {
    labels.iter().map(|label| (label.name.as_str(), label.value.as_str())).collect()
}

#[test]
fn native_histograms_have_the_buckets_of_the_history() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let sketch = random_sketch(&mut rng);
        let sent = line(&Family::RTT, &[(2_000, Value::Histogram(sketch.clone()))]);
        let (mut one, mut two) = (Write1::new(false), Write2::new(false));
        one.add(&sent);
        two.add(&sent);
        assert_eq!((one.points(), two.points()), (1, 1));
        let one = WriteRequest::decode(one.take().as_slice()).unwrap();
        let two = Request2::decode(two.take().as_slice()).unwrap();
        let (read, started) = (&one.timeseries[0].histograms[0], &two.timeseries[0].histograms[0]);
        assert_eq!(buckets(read), sketch.buckets().collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(
            (read.count_int, read.zero_count_int),
            (sketch.count(), sketch.zero_count()),
            "seed {seed}"
        );
        assert_eq!((read.schema, read.zero_threshold, read.timestamp), (5, 0.0, 2_000));
        assert_eq!(read.sum, sketch.sum(), "seed {seed}");
        assert_eq!(*started, Histogram { start_timestamp: 1_000, ..read.clone() }, "seed {seed}");
    }
}

#[test]
fn labels_are_in_order_and_none_is_empty() {
    let mut request = Write1::new(false);
    request.add(&line(&Family::PROBES, &[(2_000, Value::Number(0.0)), (3_000, Value::Number(7.0))]));
    let read = WriteRequest::decode(request.take().as_slice()).unwrap();
    let series = &read.timeseries[0];
    assert_eq!(
        labels1(&series.labels),
        [("__name__", "fathom_probes_total"), ("probe", "icmp"), ("target", "a b")]
    );
    let sample = |timestamp, value| Sample { value, timestamp, start_timestamp: 0 };
    assert_eq!(series.samples, [sample(2_000, 0.0), sample(3_000, 7.0)]);
    assert!(request.is_empty() && request.take().is_empty(), "taken is taken");
}

#[test]
fn a_text_is_written_once_and_the_first_is_empty() {
    let mut request = Write2::new(false);
    for at_ms in [2_000, 3_000] {
        request.add(&line(&Family::PROBES, &[(at_ms, Value::Number(1.0))]));
        request.add(&line(&Family::SENT, &[(at_ms, Value::Number(1e6))]));
    }
    let read = Request2::decode(request.take().as_slice()).unwrap();
    assert_eq!(read.symbols[0], "");
    let mut once = read.symbols.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), read.symbols.len(), "{:?}", read.symbols);
    let text = |number: u32| read.symbols[number as usize].as_str();
    let counter = &read.timeseries[0];
    let labels: Vec<&str> = counter.labels_refs.iter().map(|n| text(*n)).collect();
    assert_eq!(labels, ["__name__", "fathom_probes_total", "probe", "icmp", "target", "a b"]);
    assert_eq!(counter.samples[0].start_timestamp, 1_000);
    let metadata = counter.metadata.unwrap();
    assert_eq!(
        (metadata.kind, text(metadata.help_ref), text(metadata.unit_ref)),
        (1, Family::PROBES.help, "")
    );
    let gauge = &read.timeseries[1];
    let of_gauge = gauge.metadata.unwrap();
    assert_eq!((of_gauge.kind, text(of_gauge.unit_ref)), (2, "bits_per_second"));
    assert_eq!(gauge.samples[0].start_timestamp, 0, "a gauge counts from no time on");
}

#[test]
fn an_ended_series_is_stale() {
    let ended = [(2_000, Value::Ended)];
    let mut request = Write1::new(false);
    request.add(&line(&Family::RTT, &ended));
    request.add(&line(&Family::DUPLICATES, &ended));
    let read = WriteRequest::decode(request.take().as_slice()).unwrap();
    let sums = [read.timeseries[0].histograms[0].sum, read.timeseries[1].samples[0].value];
    assert_eq!(sums.map(f64::to_bits), [0x7ff0_0000_0000_0002; 2]);
}

#[test]
fn classic_buckets_count_what_is_below_their_edges() {
    let mut sketch = Sketch::default();
    // 0, 1 ms, 15.6 ms (2^-6, the upper bound of its bucket), 20 s.
    for value in [0.0, 0.001, 0.015_625, 20.0] {
        sketch.add_value(value);
    }
    let mut request = Write1::new(true);
    request.add(&line(&Family::RTT, &[(2_000, Value::Histogram(sketch.clone()))]));
    assert_eq!(request.points(), 24);
    let read = WriteRequest::decode(request.take().as_slice()).unwrap();
    let value = |name: &str, le: &str| {
        let has = |labels: &[(&str, &str)]| {
            labels.contains(&("__name__", name)) && (le.is_empty() || labels.contains(&("le", le)))
        };
        let found = read.timeseries.iter().find(|series| has(&labels1(&series.labels)));
        found.unwrap_or_else(|| panic!("{name} {le}")).samples[0].value
    };
    let bucket = |le| value("fathom_rtt_seconds_bucket", le);
    assert_eq!([bucket("0.0009765625"), bucket("0.001953125"), bucket("0.0078125")], [1.0, 2.0, 2.0]);
    assert_eq!([bucket("0.015625"), bucket("16.0"), bucket("+Inf")], [3.0, 3.0, 4.0]);
    assert_eq!(value("fathom_rtt_seconds_count", ""), 4.0);
    assert_eq!(value("fathom_rtt_seconds_sum", ""), sketch.sum());
}

#[test]
fn the_texts_of_edges_are_their_numbers() {
    for edge in fathom_watch_metrics::EDGES {
        assert_eq!(edge.text, format!("{:?}", f64::from(edge.power).exp2()));
    }
}
