//! Native histograms: `prometheus.Histogram` and `io.prometheus.write.v2.Histogram`, which have the
//! same fields.
use crate::Why;
use crate::wire::{Fields, Once, Value, varint};

/// Checks a histogram; returns its time and its start, 0 for none.
pub(crate) fn check(message: &[u8], has_start: bool) -> Result<(u64, u64), Why> {
    let (mut fields, mut once) = (Fields(message), Once::default());
    let (mut at, mut start) = (0, 0);
    // Buckets by the spans, and by the counts: negative, then positive ones.
    let (mut spanned, mut counted) = ([0_u64; 2], [0_u64; 2]);
    while let Some((field, value)) = fields.next()? {
        let side = usize::from(field >= 11);
        if !matches!(field, 8 | 11) {
            once.see(field)?;
        }
        match (field, value) {
            // Counts, sums, thresholds, the schema and the reset hint.
            (1 | 4 | 6 | 14, Value::Number(_)) | (2 | 3 | 5 | 7, Value::Fixed) => {}
            (8 | 11, Value::Bytes(span)) => spanned[side] = spanned[side].saturating_add(length(span)?),
            (9 | 12, Value::Bytes(deltas)) => counted[side] += varints(deltas)?,
            (10 | 13, Value::Bytes(counts)) => counted[side] += doubles(counts)?,
            (15, Value::Number(number)) => at = number,
            (16, Value::Bytes(bounds)) => {
                doubles(bounds)?;
            }
            (17, Value::Number(number)) if has_start => start = number,
            _ => return Err(Why::Field),
        }
    }
    if spanned == counted { Ok((at, start)) } else { Err(Why::Histogram) }
}

/// The length of a `BucketSpan`.
fn length(span: &[u8]) -> Result<u64, Why> {
    let (mut fields, mut once, mut length) = (Fields(span), Once::default(), 0);
    while let Some((field, value)) = fields.next()? {
        once.see(field)?;
        match (field, value) {
            (1, Value::Number(_)) => {}
            (2, Value::Number(number)) => length = number,
            _ => return Err(Why::Field),
        }
    }
    Ok(length)
}

fn varints(mut packed: &[u8]) -> Result<u64, Why> {
    let mut count = 0;
    while !packed.is_empty() {
        varint(&mut packed)?;
        count += 1;
    }
    Ok(count)
}

fn doubles(packed: &[u8]) -> Result<u64, Why> {
    let count = (packed.len() / 8) as u64;
    if packed.len().is_multiple_of(8) { Ok(count) } else { Err(Why::Truncated) }
}
