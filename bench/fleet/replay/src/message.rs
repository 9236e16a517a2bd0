//! Remote-write 1.0, as declared in `prompb/remote.proto` and `types.proto`: what Fathom sends.
use prost::Message;
use prost::encoding::encode_varint;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) series: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(int64, tag = "2")]
    pub(crate) at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(uint64, tag = "1")]
    pub(crate) count: u64,
    #[prost(double, tag = "3")]
    pub(crate) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(crate) schema: i32,
    #[prost(double, tag = "5")]
    pub(crate) zero_threshold: f64,
    #[prost(uint64, tag = "6")]
    pub(crate) zero_count: u64,
    #[prost(message, repeated, tag = "11")]
    pub(crate) spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "12")]
    pub(crate) deltas: Vec<i64>,
    #[prost(int32, tag = "14")]
    pub(crate) reset_hint: i32,
    #[prost(int64, tag = "15")]
    pub(crate) at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Span {
    #[prost(sint32, tag = "1")]
    pub(crate) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(crate) length: u32,
}

impl Histogram {
    /// Counts of the buckets that are not empty, that of zero first.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut now = 0;
        let absolute = self.deltas.iter().map(|delta| {
            now += delta;
            now.unsigned_abs()
        });
        [self.zero_count].into_iter().chain(absolute).filter(|count| *count > 0).collect()
    }
}

/// Tag of the field `at_ms` of a sample, and of a histogram.
const SAMPLE_TIME: u8 = 2 << 3;
const HISTOGRAM_TIME: u8 = 15 << 3;
/// Tags of fields with a length.
const LABEL: u8 = 1 << 3 | 2;
const SAMPLE: u8 = 2 << 3 | 2;
const HISTOGRAM: u8 = 4 << 3 | 2;
const SERIES: u8 = 1 << 3 | 2;

fn put(out: &mut Vec<u8>, tag: u8, content: &[&[u8]]) {
    out.push(tag);
    encode_varint(content.iter().map(|part| part.len() as u64).sum(), out);
    for part in content {
        out.extend_from_slice(part);
    }
}

/// Adds a label to the bytes of a series.
pub(crate) fn put_label(out: &mut Vec<u8>, name: &str, value: &str) {
    let mut content = Vec::with_capacity(name.len() + value.len() + 4);
    put(&mut content, LABEL, &[name.as_bytes()]);
    put(&mut content, SAMPLE, &[value.as_bytes()]);
    put(out, LABEL, &[&content]);
}

fn time(tag: u8, at_ms: i64) -> Vec<u8> {
    let mut time = vec![tag];
    encode_varint(at_ms.unsigned_abs(), &mut time);
    time
}

/// Adds a sample to the bytes of a series.
pub(crate) fn put_sample(out: &mut Vec<u8>, value: f64, at_ms: i64) {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    put(out, SAMPLE, &[&[1 << 3 | 1, a, b, c, d, e, f, g, h], &time(SAMPLE_TIME, at_ms)]);
}

/// Adds a histogram, encoded without its time, to the bytes of a series.
pub(crate) fn put_histogram(out: &mut Vec<u8>, without_time: &[u8], at_ms: i64) {
    put(out, HISTOGRAM, &[without_time, &time(HISTOGRAM_TIME, at_ms)]);
}

/// Adds the bytes of a series to a request.
pub(crate) fn put_series(out: &mut Vec<u8>, series: &[u8]) {
    put(out, SERIES, &[series]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_hand_is_what_the_declared_messages_are() {
        let histogram = Histogram {
            count: 7,
            sum: 0.5,
            schema: 5,
            zero_threshold: 1e-128,
            zero_count: 1,
            spans: vec![Span { offset: -3, length: 2 }],
            deltas: vec![2, 2],
            reset_hint: 0,
            at_ms: 1_800_000_000_123,
        };
        let label = |name: &str, value: &str| Label { name: name.into(), value: value.into() };
        let series = TimeSeries {
            labels: vec![label("__name__", "a"), label("site", &"s".repeat(60))],
            samples: vec![Sample { value: 0.0, at_ms: 1 }, Sample { value: -1.5, at_ms: 1_800_000_000_000 }],
            histograms: vec![histogram.clone()],
        };
        let request = WriteRequest { series: vec![series.clone(), series.clone()] };
        let mut one = Vec::new();
        for Label { name, value } in &series.labels {
            put_label(&mut one, name, value);
        }
        for sample in &series.samples {
            put_sample(&mut one, sample.value, sample.at_ms);
        }
        let without_time = Histogram { at_ms: 0, ..histogram.clone() }.encode_to_vec();
        put_histogram(&mut one, &without_time, histogram.at_ms);
        let mut all = Vec::new();
        put_series(&mut all, &one);
        put_series(&mut all, &one);
        assert_eq!(WriteRequest::decode(all.as_slice()).unwrap_or_default(), request);
        assert_eq!(histogram.counts(), [1, 2, 4]);
    }
}
