//! `io.prometheus.client.MetricFamily` by hand: a dozen fields need no generator. Field numbers are those of `metrics.proto` of
//! prometheus/client_model.
use super::{Family, Kind, Metric, Value};
use fathom_history::Sketch;

/// The history's buckets are those of this schema, with the same numbers.
const SCHEMA: i64 = 5;
/// Only values of exactly zero are outside of the buckets.
const ZERO_THRESHOLD: f64 = 0.0;
/// Fewer empty buckets than this between two are written as zeros: a span costs more.
const LEAST_GAP: i32 = 3;

/// A message that is written field by field.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }
    fn signed(&mut self, field: u64, value: i64) {
        self.number(field, zigzag(value));
    }
    fn double(&mut self, field: u64, value: f64) {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }
    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
    }
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// All families, each after its length.
pub(super) fn write(families: &[Family<'_>]) -> Vec<u8> {
    let mut all = Message::default();
    // A family without metrics is an error to Prometheus.
    for family in families.iter().filter(|family| !family.metrics.is_empty()) {
        let message = message_of(family).0;
        all.varint(message.len() as u64);
        all.0.extend(message);
    }
    all.0
}

fn message_of(family: &Family<'_>) -> Message {
    let mut message = Message::default();
    let name =
        if family.kind == Kind::Counter { format!("{}_total", family.name) } else { family.name.into() };
    message.bytes(1, name.as_bytes());
    message.bytes(2, family.help.as_bytes());
    message.number(
        3,
        match family.kind {
            Kind::Counter => 0,
            Kind::Gauge => 1,
            Kind::Histogram => 4,
        },
    );
    for metric in &family.metrics {
        message.bytes(4, &metric_of(metric, family.kind).0);
    }
    message
}

fn metric_of(metric: &Metric<'_>, kind: Kind) -> Message {
    let mut message = Message::default();
    for (name, value) in &metric.labels {
        let mut pair = Message::default();
        pair.bytes(1, name.as_bytes());
        pair.bytes(2, value.as_bytes());
        message.bytes(1, &pair.0);
    }
    match &metric.value {
        Value::Number(value) => {
            let mut number = Message::default();
            number.double(1, *value);
            message.bytes(if kind == Kind::Counter { 3 } else { 2 }, &number.0);
        }
        Value::Histogram(sketch) => message.bytes(7, &histogram_of(sketch).0),
    }
    message
}

fn histogram_of(sketch: &Sketch) -> Message {
    let mut message = Message::default();
    message.number(1, sketch.count());
    message.double(2, sketch.sum());
    message.signed(5, SCHEMA);
    message.double(6, ZERO_THRESHOLD);
    message.number(7, sketch.zero_count());
    let (spans, counts) = spans_of(sketch);
    for (offset, length) in &spans {
        let mut span = Message::default();
        span.signed(1, i64::from(*offset));
        span.number(2, *length);
        message.bytes(12, &span.0);
    }
    let mut before = 0;
    let mut deltas = Message::default();
    for count in counts {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.varint(zigzag(count - before));
        before = count;
    }
    message.bytes(13, &deltas.0);
    // A histogram without any span is taken for a classic one: an empty span says that it is not.
    if spans.is_empty() {
        message.bytes(12, &[]);
    }
    message
}

/// Spans of buckets (the distance from the end of the one before, and the length) and the counts in them.
fn spans_of(sketch: &Sketch) -> (Vec<(i32, u64)>, Vec<u64>) {
    let (mut spans, mut counts): (Vec<(i32, u64)>, Vec<u64>) = Default::default();
    let mut end = 0;
    for (bucket, count) in sketch.buckets() {
        let gap = bucket - end;
        match spans.last_mut() {
            Some((_, length)) if gap < LEAST_GAP => {
                counts.extend((0..gap).map(|_| 0));
                *length += gap as u64 + 1;
            }
            _ => spans.push((gap, 1)),
        }
        counts.push(count);
        end = bucket + 1;
    }
    (spans, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_encodings_own_description() {
        // protobuf.dev/programming-guides/encoding
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        assert_eq!(message.0, b"\x08\x96\x01\x12\x07testing");
        assert_eq!([0, -1, 1, -2, 2_147_483_647].map(zigzag), [0, 1, 2, 3, 4_294_967_294]);
    }

    #[test]
    fn close_buckets_share_a_span() {
        let mut sketch = Sketch::default();
        for (bucket, times) in [(-200, 4), (-199, 1), (-196, 2), (-100, 3)] {
            sketch.add_times(bucket, times);
        }
        let (spans, counts) = spans_of(&sketch);
        assert_eq!(spans, [(-200, 5), (95, 1)]);
        assert_eq!(counts, [4, 1, 0, 0, 2, 3]);
    }
}
