//! Chunks: many samples of one series, and their encoding.
use crate::bytes::{DecodeError, Reader, Writer};
use crate::{Code, Stored};
use alloc::vec::Vec;

const KIND: u8 = b'c';

/// Most samples of a chunk: an hour at one per millisecond. A larger count means corrupt data.
pub const MAX_SAMPLES: usize = 3_600_000;

/// Replies that are counted but are not samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Time of arrival, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Duplicate replies.
    pub duplicates: u64,
    /// Reordered replies: they overtook the reply to an earlier probe.
    pub reordered: u64,
}

/// Samples of one series, in any order of time, and the duplicate and reordered replies.
///
/// Encoding of times: the most common interval and the deviations from it, so that a regular grid
/// takes a few bytes. Then the low bytes of all codes, then the high bytes, which compresses
/// better.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Chunk {
    /// The samples.
    pub samples: Vec<Stored>,
    /// Duplicate and reordered replies.
    pub marks: Vec<Mark>,
}

impl Chunk {
    /// Whether there are neither samples nor marks.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.marks.is_empty()
    }
    /// Moves the content of `other` here.
    pub fn append(&mut self, other: &mut Chunk) {
        self.samples.append(&mut other.samples);
        self.marks.append(&mut other.marks);
    }
    /// Sorts samples and marks by time (stable).
    pub fn sort(&mut self) {
        self.samples.sort_by_key(|s| s.at_ms);
        self.marks.sort_by_key(|m| m.at_ms);
    }
    /// Replaces the code of the lost sample nearest to `stored.at_ms`, less than two milliseconds
    /// away, with the code of `stored`.
    ///
    /// Returns the index of the sample, or `None` if there is none.
    pub fn amend(&mut self, stored: Stored) -> Option<usize> {
        let off = |s: &Stored| s.at_ms.abs_diff(stored.at_ms);
        let lost = self.samples.iter_mut().enumerate().filter(|(_, s)| s.code == Code::LOST && off(s) < 2);
        let (place, sample) = lost.min_by_key(|(_, s)| off(s))?;
        sample.code = stored.code;
        Some(place)
    }
    /// Encodes the chunk, with version and checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(KIND);
        encode_times(&self.samples, &mut out);
        encode_marks(&self.marks, &mut out);
        encode_codes(self.samples.iter(), &mut out);
        out.finish()
    }
    /// Decodes the output of [`Chunk::encode`].
    ///
    /// # Errors
    /// Refuses any other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Chunk, DecodeError> {
        let mut from = Reader::open(bytes, KIND)?;
        let mut samples = decode_times(&mut from)?;
        let marks = decode_marks(&mut from)?;
        decode_codes(samples.iter_mut(), &mut from)?;
        from.end()?;
        Ok(Chunk { samples, marks })
    }
}

/// Encodes the low bytes of all codes, then the high bytes.
pub(crate) fn encode_codes<'a>(samples: impl Iterator<Item = &'a Stored> + Clone, out: &mut Writer) {
    out.bytes(samples.clone().map(|s| s.code.number() as u8));
    out.bytes(samples.map(|s| (s.code.number() >> 8) as u8));
}

/// Decodes the code of each sample.
pub(crate) fn decode_codes<'a>(
    samples: impl ExactSizeIterator<Item = &'a mut Stored>,
    from: &mut Reader<'_>,
) -> Result<(), DecodeError> {
    let count = samples.len();
    let (lower, upper) = (from.bytes(count)?, from.bytes(count)?);
    for ((sample, low), high) in samples.zip(lower).zip(upper) {
        let number = u16::from_le_bytes([*low, *high]);
        sample.code = Code::from_number(number).ok_or(DecodeError::Code(number))?;
    }
    Ok(())
}

/// Encodes the count, the first time and the most common interval; then pairs: the number of
/// intervals that match it, and the deviation of the next.
pub(crate) fn encode_times(samples: &[Stored], out: &mut Writer) {
    out.number(samples.len() as u64);
    let Some(first) = samples.first() else { return };
    let interval = common_interval(samples);
    out.number(first.at_ms);
    out.signed(interval);
    let mut regular = 0;
    for off in intervals(samples).map(|i| i.wrapping_sub(interval)) {
        if off == 0 {
            regular += 1;
        } else {
            out.number(regular);
            out.signed(off);
            regular = 0;
        }
    }
    if regular > 0 {
        out.number(regular);
    }
}

/// Decodes the times; the codes are still missing.
pub(crate) fn decode_times(from: &mut Reader<'_>) -> Result<Vec<Stored>, DecodeError> {
    let announced = from.number()?;
    // Two bytes of code per sample follow.
    let count = usize::try_from(announced).ok().filter(|n| *n <= MAX_SAMPLES && *n <= from.left() / 2);
    let count = count.ok_or(DecodeError::Count(announced))?;
    let mut samples = Vec::with_capacity(count);
    if count == 0 {
        return Ok(samples);
    }
    let mut at_ms = from.number()?;
    samples.push(without_code(at_ms));
    let interval = from.signed()?;
    while samples.len() < count {
        let regular = from.number()?;
        if regular > (count - samples.len()) as u64 {
            return Err(DecodeError::Count(regular));
        }
        for _ in 0..regular {
            at_ms = at_ms.checked_add_signed(interval).ok_or(DecodeError::Time)?;
            samples.push(without_code(at_ms));
        }
        if samples.len() < count {
            let off = from.signed()?;
            at_ms = at_ms.checked_add_signed(interval.wrapping_add(off)).ok_or(DecodeError::Time)?;
            samples.push(without_code(at_ms));
        }
    }
    Ok(samples)
}

fn without_code(at_ms: u64) -> Stored {
    Stored { at_ms, code: Code::FAILED }
}

pub(crate) fn encode_marks(marks: &[Mark], out: &mut Writer) {
    out.number(marks.len() as u64);
    let mut last = 0;
    for mark in marks {
        out.signed(mark.at_ms.wrapping_sub(last) as i64);
        out.number(mark.duplicates);
        out.number(mark.reordered);
        last = mark.at_ms;
    }
}

pub(crate) fn decode_marks(from: &mut Reader<'_>) -> Result<Vec<Mark>, DecodeError> {
    let announced = from.number()?;
    // Three numbers per mark.
    if announced > (from.left() / 3) as u64 {
        return Err(DecodeError::Count(announced));
    }
    let (mut marks, mut last) = (Vec::new(), 0_u64);
    for _ in 0..announced {
        let at_ms = last.checked_add_signed(from.signed()?).ok_or(DecodeError::Time)?;
        marks.push(Mark { at_ms, duplicates: from.number()?, reordered: from.number()? });
        last = at_ms;
    }
    Ok(marks)
}

fn intervals(samples: &[Stored]) -> impl Iterator<Item = i64> {
    samples.iter().zip(samples.iter().skip(1)).map(|(a, b)| b.at_ms.wrapping_sub(a.at_ms) as i64)
}

/// The interval shared by more than half of all samples, if any (Boyer and Moore, MJRTY, 1991);
/// otherwise an arbitrary one.
fn common_interval(samples: &[Stored]) -> i64 {
    let (mut candidate, mut votes) = (0, 0_usize);
    for interval in intervals(samples) {
        if votes == 0 {
            candidate = interval;
        }
        if interval == candidate { votes += 1 } else { votes -= 1 }
    }
    candidate
}
