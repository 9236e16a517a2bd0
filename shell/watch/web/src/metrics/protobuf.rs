//! `io.prometheus.client.MetricFamily`. Field numbers are those of `metrics.proto` of
//! prometheus/client_model.
use fathom_watch_metrics::{Exposed, Kind, Message, Metric, MetricValue, SCHEMA, Spans};
use fathom_watch_samples::Sketch;

/// Only values of exactly zero are outside the buckets.
const ZERO_THRESHOLD: f64 = 0.0;

/// All families, each preceded by its length.
pub(super) fn write(families: &[Exposed<'_>]) -> Vec<u8> {
    let mut all = Message::default();
    // Prometheus rejects a family without metrics.
    for family in families.iter().filter(|family| !family.metrics.is_empty()) {
        all.delimited(&message_of(family));
    }
    all.into_bytes()
}

fn message_of(exposed: &Exposed<'_>) -> Message {
    let mut message = Message::default();
    let family = exposed.family;
    message.bytes(1, format!("{}{}", family.name, family.suffix()).as_bytes());
    message.bytes(2, family.help.as_bytes());
    message.number(
        3,
        match family.kind {
            Kind::Counter => 0,
            Kind::Gauge => 1,
            Kind::Histogram => 4,
        },
    );
    for metric in &exposed.metrics {
        message.message(4, &metric_of(metric, family.kind));
    }
    message
}

fn metric_of(metric: &Metric<'_>, kind: Kind) -> Message {
    let mut message = Message::default();
    for (name, value) in &metric.labels {
        let mut pair = Message::default();
        pair.bytes(1, name.as_bytes());
        pair.bytes(2, value.as_bytes());
        message.message(1, &pair);
    }
    match &metric.value {
        MetricValue::Number(value) => {
            let mut number = Message::default();
            number.double(1, *value);
            message.message(if kind == Kind::Counter { 3 } else { 2 }, &number);
        }
        MetricValue::Histogram(sketch) => message.message(7, &histogram_of(sketch)),
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
    let spans = Spans::of(sketch);
    spans.write(&mut message, 12, 13);
    // Without any span, a histogram would be mistaken for a classic one; an empty span prevents
    // that.
    if spans.spans.is_empty() {
        message.bytes(12, &[]);
    }
    message
}
