//! Many samples of one series as bytes.
use crate::bytes::{DecodeError, Reader, Writer};
use crate::{Code, Stored};
use alloc::vec::Vec;

const KIND: u8 = b'c';

/// The most samples of a chunk: an hour at one a millisecond. A larger count is damage.
pub const MAX_SAMPLES: usize = 3_600_000;

/// Answers that were none of a sample's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// When they came, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Answers that came again.
    pub duplicates: u64,
    /// Answers that overtook one of an earlier probe.
    pub reordered: u64,
}

/// Samples of one series, in any order of their times, and what was counted beside them.
///
/// As bytes: the times as the commonest interval and what deviates from it, so that a regular grid takes a few bytes in all; then
/// the lower bytes of all codes, then the upper ones, so that a packer sees alike beside alike.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Chunk {
    /// The samples.
    pub samples: Vec<Stored>,
    /// Duplicates and reordered answers.
    pub marks: Vec<Mark>,
}

impl Chunk {
    /// Neither samples nor marks.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.marks.is_empty()
    }
    /// Adds what `other` has.
    pub fn append(&mut self, other: &mut Chunk) {
        self.samples.append(&mut other.samples);
        self.marks.append(&mut other.marks);
    }
    /// Orders all by time; those of one time stay as they are.
    pub fn sort(&mut self) {
        self.samples.sort_by_key(|s| s.at_ms);
        self.marks.sort_by_key(|m| m.at_ms);
    }
    /// Gives the lost sample that was sent nearest to `stored.at_ms`, less than two milliseconds from it, the code of `stored`.
    ///
    /// Gives the time of the sample, or `None` if there is no such one.
    pub fn amend(&mut self, stored: Stored) -> Option<u64> {
        let lost = self.samples.iter_mut().filter(|s| s.code == Code::LOST);
        let near = lost.filter(|s| s.at_ms.abs_diff(stored.at_ms) < 2);
        let sample = near.min_by_key(|s| s.at_ms.abs_diff(stored.at_ms))?;
        sample.code = stored.code;
        Some(sample.at_ms)
    }
    /// The bytes, with version and checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(KIND);
        out.number(self.samples.len() as u64);
        encode_times(&self.samples, &mut out);
        out.bytes(self.samples.iter().map(|s| s.code.number() as u8));
        out.bytes(self.samples.iter().map(|s| (s.code.number() >> 8) as u8));
        out.number(self.marks.len() as u64);
        let mut last = 0;
        for mark in &self.marks {
            out.signed(mark.at_ms.wrapping_sub(last) as i64);
            out.number(mark.duplicates);
            out.number(mark.reordered);
            last = mark.at_ms;
        }
        out.finish()
    }
    /// What [`Chunk::encode`] was given.
    ///
    /// # Errors
    /// Any other bytes are refused.
    pub fn decode(bytes: &[u8]) -> Result<Chunk, DecodeError> {
        let mut from = Reader::open(bytes, KIND)?;
        let announced = from.number()?;
        // Each sample has two bytes of its own.
        let count = usize::try_from(announced).ok().filter(|n| *n <= MAX_SAMPLES && *n <= from.left() / 2);
        let count = count.ok_or(DecodeError::Count(announced))?;
        let times = decode_times(&mut from, count)?;
        let (lower, upper) = (from.bytes(count)?, from.bytes(count)?);
        let mut samples = Vec::with_capacity(count);
        for ((at_ms, low), high) in times.into_iter().zip(lower).zip(upper) {
            let number = u16::from_le_bytes([*low, *high]);
            let code = Code::from_number(number).ok_or(DecodeError::Code(number))?;
            samples.push(Stored { at_ms, code });
        }
        let marks = decode_marks(&mut from)?;
        from.end()?;
        Ok(Chunk { samples, marks })
    }
}

/// First time, commonest interval, then pairs: how many intervals are it, and by how much the next one deviates.
fn encode_times(samples: &[Stored], out: &mut Writer) {
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

fn decode_times(from: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, DecodeError> {
    let mut times = Vec::with_capacity(count);
    if count == 0 {
        return Ok(times);
    }
    let mut at = from.number()?;
    times.push(at);
    let interval = from.signed()?;
    while times.len() < count {
        let regular = from.number()?;
        if regular > (count - times.len()) as u64 {
            return Err(DecodeError::Count(regular));
        }
        for _ in 0..regular {
            at = at.checked_add_signed(interval).ok_or(DecodeError::Time)?;
            times.push(at);
        }
        if times.len() < count {
            let off = from.signed()?;
            at = at.checked_add_signed(interval.wrapping_add(off)).ok_or(DecodeError::Time)?;
            times.push(at);
        }
    }
    Ok(times)
}

fn decode_marks(from: &mut Reader<'_>) -> Result<Vec<Mark>, DecodeError> {
    let announced = from.number()?;
    // Three numbers each.
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

/// The interval that more than half of all have, if there is one (Boyer and Moore, MJRTY, 1991); else any.
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
