//! OTLP: `ExportMetricsServiceRequest`. Field numbers are those of `metrics.proto` of
//! opentelemetry-proto 1.x.
//!
//! Sums and histograms are cumulative, so a request that is sent twice counts nothing twice, and a
//! lost one loses only its own point. Prometheus accepts no other temporality.
use crate::{Family, Kind, Line, Message, Point, Request, SCHEMA, Value};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_watch_samples::Sketch;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u64 = 2;
/// `DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK`.
const NO_VALUE: u64 = 1;
/// Count of empty buckets: OTLP has no spans.
const EMPTY: u64 = 0;

/// An OTLP request.
#[derive(Debug)]
pub struct Otlp {
    /// The resource and the scope, encoded once.
    resource: Message,
    scope: Message,
    families: BTreeMap<&'static str, (&'static Family, Message)>,
    points: u64,
}

impl Otlp {
    /// An empty request from a resource with these attributes.
    pub fn new(resource: &[(&str, &str)], scope: (&str, &str)) -> Self {
        let mut attributes = Message::default();
        attributed(&mut attributes, 1, resource);
        let mut named = Message::default();
        named.bytes(1, scope.0.as_bytes());
        named.bytes(2, scope.1.as_bytes());
        Otlp { resource: attributes, scope: named, families: BTreeMap::new(), points: 0 }
    }
}

impl Request for Otlp {
    fn add(&mut self, line: &Line<'_>) {
        let (_, points) =
            self.families.entry(line.family.name).or_insert_with(|| (line.family, Message::default()));
        for point in &line.points {
            let written = match line.family.kind {
                Kind::Histogram => histogram(line, point),
                Kind::Counter | Kind::Gauge => number(line, point),
            };
            points.message(1, &written);
        }
        self.points += line.points.len() as u64;
    }
    fn len(&self) -> usize {
        self.families.values().map(|(_, points)| points.len()).sum()
    }
    fn points(&self) -> u64 {
        self.points
    }
    fn take(&mut self) -> Vec<u8> {
        self.points = 0;
        let mut scoped = Message::default();
        scoped.message(1, &self.scope);
        for (family, points) in core::mem::take(&mut self.families).into_values() {
            scoped.message(2, &metric(family, points));
        }
        let mut all = Message::default();
        all.message(1, &self.resource);
        all.message(2, &scoped);
        let mut body = Message::default();
        body.message(1, &all);
        body.into_bytes()
    }
}

fn metric(family: &Family, mut points: Message) -> Message {
    let mut metric = Message::default();
    metric.bytes(1, name_of(family).as_bytes());
    metric.bytes(2, family.help.as_bytes());
    metric.bytes(3, unit_of(family).as_bytes());
    match family.kind {
        Kind::Gauge => metric.message(5, &points),
        Kind::Counter => {
            points.number(2, CUMULATIVE);
            points.number(3, 1);
            metric.message(7, &points);
        }
        Kind::Histogram => {
            points.number(2, CUMULATIVE);
            metric.message(10, &points);
        }
    }
    metric
}

/// The Prometheus name of the series. Receivers keep it, whether or not they translate names.
fn name_of(family: &Family) -> String {
    format!("{}{}", family.name, family.suffix())
}

/// The unit in UCUM, as OTLP requires. Counts use an annotation in curly braces.
fn unit_of(family: &Family) -> String {
    match family.unit {
        "seconds" => "s".to_string(),
        "bytes" => "By".to_string(),
        "" if family.name.ends_with("answers") => "{answer}".to_string(),
        "" if *family == Family::HOP => "{router}".to_string(),
        "" => "{probe}".to_string(),
        // An annotation: Prometheus would append a unit like "bit/s" to the name as a second
        // suffix.
        other => format!("{{{other}}}"),
    }
}

fn attributed(to: &mut Message, field: u64, attributes: &[(&str, &str)]) {
    for (key, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        let mut any = Message::default();
        any.bytes(1, value.as_bytes());
        let mut pair = Message::default();
        pair.bytes(1, key.as_bytes());
        pair.message(2, &any);
        to.message(field, &pair);
    }
}

fn times(to: &mut Message, line: &Line<'_>, point: &Point) {
    if line.family.kind != Kind::Gauge {
        to.fixed(2, line.since_ms.saturating_mul(NANOS_PER_MILLI));
    }
    to.fixed(3, point.at_ms.saturating_mul(NANOS_PER_MILLI));
}

fn number(line: &Line<'_>, point: &Point) -> Message {
    let mut written = Message::default();
    attributed(&mut written, 7, &line.labels);
    times(&mut written, line, point);
    match &point.value {
        Value::Number(number) => written.double(4, *number),
        Value::Histogram(_) | Value::Ended => written.number(8, NO_VALUE),
    }
    written
}

fn histogram(line: &Line<'_>, point: &Point) -> Message {
    let mut written = Message::default();
    attributed(&mut written, 1, &line.labels);
    times(&mut written, line, point);
    written.signed(6, SCHEMA);
    let Value::Histogram(sketch) = &point.value else {
        written.number(10, NO_VALUE);
        return written;
    };
    written.fixed(4, sketch.count());
    written.double(5, sketch.sum());
    written.fixed(7, sketch.zero_count());
    written.message(8, &buckets(sketch));
    written
}

/// All buckets from the first to the last. OTLP's bucket `i` holds the values in (G^i, G^(i+1)]:
/// the history's `i + 1`.
fn buckets(sketch: &Sketch) -> Message {
    let (mut buckets, mut counts) = (Message::default(), Message::default());
    let mut next = None;
    for (bucket, count) in sketch.buckets() {
        let first = *next.get_or_insert(bucket);
        if counts.is_empty() {
            buckets.signed(1, i64::from(first) - 1);
        }
        (first..bucket).for_each(|_| counts.varint(EMPTY));
        counts.varint(count);
        next = Some(bucket + 1);
    }
    if !counts.is_empty() {
        buckets.message(2, &counts);
    }
    buckets
}
