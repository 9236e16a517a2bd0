//! Parts that all encodings of Prometheus' native histograms share.
use crate::Message;
use alloc::vec::Vec;
use fathom_watch_samples::Sketch;

/// The schema of the history's buckets; the bucket numbers are equal.
pub const SCHEMA: i64 = 5;

/// Gaps of fewer empty buckets than this are written as zeros, because a new span costs more.
const MIN_GAP: i32 = 3;

/// Spans of adjacent buckets, and their counts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Spans {
    /// For each span, its distance from the end of the previous one and its length.
    pub spans: Vec<(i32, u64)>,
    /// The counts of all spans.
    pub counts: Vec<u64>,
}

impl Spans {
    /// The spans of a sketch.
    pub fn of(sketch: &Sketch) -> Spans {
        let mut all = Spans::default();
        let mut end = 0;
        for (bucket, count) in sketch.buckets() {
            let gap = bucket - end;
            match all.spans.last_mut() {
                Some((_, length)) if gap < MIN_GAP => {
                    all.counts.extend((0..gap).map(|_| 0));
                    *length += gap as u64 + 1;
                }
                _ => all.spans.push((gap, 1)),
            }
            all.counts.push(count);
            end = bucket + 1;
        }
        all
    }
    /// Writes the spans as messages to one field and the packed differences of the counts to
    /// another.
    pub fn write(&self, to: &mut Message, spans: u64, deltas: u64) {
        for (offset, length) in &self.spans {
            let mut span = Message::default();
            span.signed(1, i64::from(*offset));
            span.number(2, *length);
            to.message(spans, &span);
        }
        let mut before = 0;
        let mut packed = Message::default();
        for count in &self.counts {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            packed.zigzag(count - before);
            before = count;
        }
        to.message(deltas, &packed);
    }
}

/// Prometheus' stale marker (remote-write 2.0): a specific NaN that ends a series.
pub(crate) const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

/// `prometheus.Histogram` of remote-write 1.0, which equals `io.prometheus.write.v2.Histogram`
/// except for the start time. `None` means that the series ended.
pub(crate) fn histogram(sketch: Option<&Sketch>, at_ms: u64) -> Message {
    let mut message = Message::default();
    let empty = Sketch::default();
    message.number(1, sketch.unwrap_or(&empty).count());
    message.double(3, sketch.map_or(STALE, Sketch::sum));
    message.signed(4, SCHEMA);
    // The zero threshold stays 0: only values of exactly zero are outside the buckets.
    message.number(6, sketch.unwrap_or(&empty).zero_count());
    Spans::of(sketch.unwrap_or(&empty)).write(&mut message, 11, 12);
    message.number(15, at_ms);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_buckets_share_a_span() {
        let mut sketch = Sketch::default();
        for (bucket, times) in [(-200, 4), (-199, 1), (-196, 2), (-100, 3)] {
            sketch.add_times(bucket, times);
        }
        let all = Spans::of(&sketch);
        assert_eq!(all.spans, [(-200, 5), (95, 1)]);
        assert_eq!(all.counts, [4, 1, 0, 0, 2, 3]);
    }
}
