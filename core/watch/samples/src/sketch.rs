//! A histogram that merges without loss.
use crate::scale::{self, HIGHEST, LOWEST};
use crate::{Code, DecodeError, bytes::Reader, bytes::Writer};
use alloc::vec;
use alloc::vec::Vec;
use fathom_stats::percentile_bin;

/// Counts of values in the buckets of [`crate::scale`]. Merging adds counts, so order and grouping
/// do not matter.
///
/// Late answers are counted too: without them the path would look fastest when it is worst.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sketch {
    zero: u64,
    /// Bucket of the first count. The first and last counts are never 0, so that equal sketches
    /// have equal bytes.
    first: i32,
    counts: Vec<u64>,
}

impl Sketch {
    /// Counts the value of a sample, if it has one.
    pub fn add(&mut self, code: Code) {
        match code.bucket() {
            Some(bucket) => self.add_times(bucket, 1),
            None => self.zero += u64::from(code.value().is_some()),
        }
    }
    /// Counts a value in the base unit. Negative values and NaN are not counted.
    pub fn add_value(&mut self, value: f64) {
        self.add(Code::level(value));
    }
    /// Counts `times` values of one bucket.
    pub fn add_times(&mut self, bucket: i32, times: u64) {
        if times == 0 {
            return;
        }
        let bucket = bucket.clamp(LOWEST, HIGHEST);
        self.reach(bucket, bucket);
        if let Some(count) = self.counts.get_mut((bucket - self.first) as usize) {
            *count = count.saturating_add(times);
        }
    }
    /// Counts `times` values of exactly zero.
    pub fn add_zeros(&mut self, times: u64) {
        self.zero = self.zero.saturating_add(times);
    }
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Sketch) {
        self.zero = self.zero.saturating_add(other.zero);
        let Some(last) = other.last() else { return };
        self.reach(other.first, last);
        let from = (other.first - self.first) as usize;
        let mine = self.counts.iter_mut().skip(from).zip(&other.counts);
        mine.for_each(|(count, more)| *count = count.saturating_add(*more));
    }
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(self.zero, |sum, count| sum.saturating_add(*count))
    }
    /// Number of values that are exactly zero, which no bucket holds.
    pub const fn zero_count(&self) -> u64 {
        self.zero
    }
    /// Bucket and count of all buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = (i32, u64)> {
        (self.first..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }
    /// Sum of all values to within 1.09 %: each counts as the representative value of its bucket.
    pub fn sum(&self) -> f64 {
        self.buckets().fold(0.0, |sum, (bucket, count)| sum + scale::value_of(bucket) * count as f64)
    }
    /// The minimum, to within 1.09 %.
    pub fn min(&self) -> Option<f64> {
        if self.zero > 0 {
            Some(0.0)
        } else {
            self.buckets().next().map(|(bucket, _)| scale::value_of(bucket))
        }
    }
    /// The maximum, to within 1.09 %.
    pub fn max(&self) -> Option<f64> {
        self.last().map(scale::value_of).or((self.zero > 0).then_some(0.0))
    }
    /// The smallest value that at least the share `q` of all values does not exceed (RFC 2330
    /// section 11.3), to within 1.09 %.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let zero = (self.zero > 0).then_some((0.0, self.zero));
        let others = self.buckets().map(|(bucket, count)| (scale::value_of(bucket), count));
        percentile_bin(zero.into_iter().chain(others), self.count(), q)
    }
    fn last(&self) -> Option<i32> {
        (!self.counts.is_empty()).then(|| self.first + self.counts.len() as i32 - 1)
    }
    /// Extends the range to the buckets `low` to `high`; the caller adds a count to both.
    fn reach(&mut self, low: i32, high: i32) {
        let Some(last) = self.last() else {
            self.first = low;
            self.counts = vec![0; (high - low + 1) as usize];
            return;
        };
        if high > last {
            self.counts.resize((high - self.first + 1) as usize, 0);
        }
        if low < self.first {
            let more = (self.first - low) as usize;
            self.counts.splice(..0, core::iter::repeat_n(0, more));
            self.first = low;
        }
    }
    /// Encodes the zero count, the number of buckets, the first bucket and the counts. After a 0
    /// comes the number of further zeros.
    pub(crate) fn encode(&self, out: &mut Writer) {
        out.number(self.zero);
        out.number(self.counts.len() as u64);
        if self.counts.is_empty() {
            return;
        }
        out.signed(i64::from(self.first));
        let mut counts = self.counts.iter().copied().peekable();
        while let Some(count) = counts.next() {
            out.number(count);
            if count == 0 {
                let mut more = 0;
                while counts.next_if_eq(&0).is_some() {
                    more += 1;
                }
                out.number(more);
            }
        }
    }
    pub(crate) fn decode(from: &mut Reader<'_>) -> Result<Sketch, DecodeError> {
        let zero = from.number()?;
        let len = from.number()?;
        let mut sketch = Sketch { zero, ..Sketch::default() };
        if len == 0 {
            return Ok(sketch);
        }
        let first = from.signed()?;
        let (lowest, highest) = (i64::from(LOWEST), i64::from(HIGHEST));
        // Any `first` can be in a damaged file, so it is compared, and never added to.
        if len > (highest - lowest + 1) as u64 || !(lowest..=highest + 1 - len as i64).contains(&first) {
            return Err(DecodeError::Bucket);
        }
        sketch.first = first as i32;
        while (sketch.counts.len() as u64) < len {
            let count = from.number()?;
            let more = if count == 0 { from.number()? } else { 0 };
            if more >= len - sketch.counts.len() as u64 {
                return Err(DecodeError::Bucket);
            }
            sketch.counts.extend(core::iter::repeat_n(count, more as usize + 1));
        }
        let trimmed = sketch.counts.first() != Some(&0) && sketch.counts.last() != Some(&0);
        if trimmed { Ok(sketch) } else { Err(DecodeError::Bucket) }
    }
}
