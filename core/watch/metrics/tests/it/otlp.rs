//! OTLP.
use crate::random_sketch;
use crate::read::{Data, ExponentialPoint, ExportRequest, KeyValue, Metric};
use fathom_units::Rng;
use fathom_watch_metrics::{Family, Line, Otlp, Point, Request, Value};
use fathom_watch_samples::{Sketch, scale};
use prost::Message;

fn request() -> Otlp {
    Otlp::new(&[("service.name", "fathom"), ("none", "")], ("fathom", "0.1.0"))
}

fn line(family: &'static Family, value: Value) -> Line<'static> {
    let points = vec![Point { at_ms: 2_000, value }];
    Line { family, labels: vec![("target", "a"), ("group", "")], since_ms: 1_000, points }
}

fn metrics(request: &mut Otlp) -> Vec<Metric> {
    let read = ExportRequest::decode(request.take().as_slice()).expect("a request");
    let all = &read.resource_metrics[0];
    assert_eq!(pairs(&all.resource.as_ref().expect("a resource").attributes), [("service.name", "fathom")]);
    all.scope_metrics[0].metrics.clone()
}

fn pairs(attributes: &[KeyValue]) -> Vec<(&str, &str)> {
    assert!(attributes.iter().all(|pair| pair.value.is_some()));
    attributes
        .iter()
        .filter_map(|p| Some((p.key.as_str(), p.value.as_ref()?.string_value.as_str())))
        .collect()
}

fn histogram(metric: &Metric) -> &ExponentialPoint {
    let Some(Data::Exponential(data)) = &metric.data else { panic!("{metric:?}") };
    assert_eq!(data.temporality, 2);
    &data.data_points[0]
}

#[test]
fn exponential_histograms_have_the_buckets_of_the_history() {
    for seed in 0..200 {
        let sketch = random_sketch(&mut Rng::new(seed));
        let mut request = request();
        request.add(&line(&Family::RTT, Value::Histogram(sketch.clone())));
        let all = metrics(&mut request);
        let read = histogram(&all[0]);
        let positive = read.positive.clone().unwrap_or_default();
        let counts = (positive.offset..).zip(positive.bucket_counts).filter(|(_, count)| *count > 0);
        // OTLP's bucket i holds values above base^i; the history's holds values up to base^i.
        let buckets: Vec<(i32, u64)> = counts.map(|(index, count)| (index + 1, count)).collect();
        assert_eq!(buckets, sketch.buckets().collect::<Vec<_>>(), "seed {seed}");
        assert_eq!((read.count, read.zero_count), (sketch.count(), sketch.zero_count()), "seed {seed}");
        assert_eq!((read.scale, read.sum), (5, Some(sketch.sum())), "seed {seed}");
        assert_eq!((read.start, read.time), (1_000_000_000, 2_000_000_000));
    }
}

#[test]
fn a_value_is_between_the_bounds_of_its_bucket() {
    let mut sketch = Sketch::default();
    sketch.add_value(0.020);
    let mut request = request();
    request.add(&line(&Family::RTT, Value::Histogram(sketch)));
    let all = metrics(&mut request);
    let index = histogram(&all[0]).positive.clone().unwrap().offset;
    let base = 2_f64.powf(2_f64.powi(-5));
    assert!(base.powi(index) < 0.020 && 0.020 <= base.powi(index + 1), "{index}");
    assert!((scale::upper_bound(index + 1) / base.powi(index + 1) - 1.0).abs() < 1e-12);
}

#[test]
fn lines_of_one_family_are_one_metric() {
    let mut request = request();
    for target in ["a", "b"] {
        let mut one = line(&Family::PROBES, Value::Number(3.0));
        one.labels = vec![("target", target)];
        request.add(&one);
        request.add(&line(&Family::SENT, Value::Number(1e6)));
    }
    let all = metrics(&mut request);
    let [sent, probes] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((probes.name.as_str(), probes.unit.as_str()), ("fathom_probes_total", "{probe}"));
    assert_eq!(
        (sent.name.as_str(), sent.unit.as_str()),
        ("fathom_host_sent_bits_per_second", "{bits_per_second}")
    );
    let Some(Data::Sum(sum)) = &probes.data else { panic!("{probes:?}") };
    assert_eq!((sum.temporality, sum.is_monotonic, sum.data_points.len()), (2, true, 2));
    assert_eq!(pairs(&sum.data_points[1].attributes), [("target", "b")]);
    assert_eq!((sum.data_points[1].start, sum.data_points[1].as_double), (1_000_000_000, Some(3.0)));
    let Some(Data::Gauge(gauge)) = &sent.data else { panic!("{sent:?}") };
    assert_eq!((gauge.data_points[0].start, gauge.data_points[0].as_double), (0, Some(1e6)));
}

#[test]
fn an_ended_series_has_no_value() {
    let mut request = request();
    request.add(&line(&Family::RTT, Value::Ended));
    request.add(&line(&Family::PROBES, Value::Ended));
    let all = metrics(&mut request);
    let Some(Data::Sum(sum)) = &all[0].data else { panic!("{all:?}") };
    assert_eq!((sum.data_points[0].flags, sum.data_points[0].as_double), (1, None));
    assert_eq!((histogram(&all[1]).flags, histogram(&all[1]).sum), (1, None));
}
