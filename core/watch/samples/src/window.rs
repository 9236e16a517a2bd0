//! What a stretch of time comes to: the rollups of a store.
use crate::bytes::{DecodeError, Reader, Writer};
use crate::{Chunk, Code, Sketch, Tally};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

const KIND: u8 = b'w';

/// Bytes of the smallest window: its place, seven counts, and an empty sketch.
const MIN_BYTES: usize = 10;

/// Tally and sketch of a stretch of time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Window {
    /// What became of the probes.
    pub tally: Tally,
    /// Their values.
    pub sketch: Sketch,
}

/// Windows of one length side by side, each at a multiple of it in UTC. Times without samples have none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Windows {
    step_ms: u64,
    by_number: BTreeMap<u64, Window>,
}

impl Window {
    /// Counts one sample.
    pub fn add(&mut self, code: Code) {
        self.tally.add(code);
        self.sketch.add(code);
    }
    /// Adds what `other` has.
    pub fn merge(&mut self, other: &Window) {
        self.tally.merge(&other.tally);
        self.sketch.merge(&other.sketch);
    }
    /// A sample that was counted as lost has another outcome.
    pub fn amend(&mut self, code: Code) {
        if self.tally.lost > 0 {
            self.tally.lost -= 1;
            self.tally.sent -= 1;
        }
        self.add(code);
    }
}

impl Windows {
    /// None, of a length in milliseconds of at least 1.
    pub fn new(step_ms: u64) -> Self {
        Windows { step_ms: step_ms.max(1), by_number: BTreeMap::new() }
    }
    /// Length of a window in milliseconds.
    pub fn step_ms(&self) -> u64 {
        self.step_ms
    }
    /// No window has anything.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }
    /// Start in milliseconds since 1970-01-01 UTC, and content, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Window)> {
        self.by_number.iter().map(|(number, window)| (number.saturating_mul(self.step_ms), window))
    }
    /// The window that has this time.
    pub fn at(&mut self, at_ms: u64) -> &mut Window {
        self.by_number.entry(at_ms / self.step_ms).or_default()
    }
    /// How many probes the window that has this time counts as lost.
    pub fn lost_at(&self, at_ms: u64) -> u64 {
        self.by_number.get(&(at_ms / self.step_ms)).map_or(0, |window| window.tally.lost)
    }
    /// Counts all that a chunk has.
    pub fn add_chunk(&mut self, chunk: &Chunk) {
        // Neighbours are mostly in one window: it is looked for once.
        let mut samples = chunk.samples.as_slice();
        while let Some(first) = samples.first() {
            let number = first.at_ms / self.step_ms;
            let inside = samples.iter().take_while(|s| s.at_ms / self.step_ms == number).count();
            let (these, rest) = samples.split_at(inside);
            let window = self.by_number.entry(number).or_default();
            these.iter().for_each(|s| window.add(s.code));
            samples = rest;
        }
        for mark in &chunk.marks {
            let tally = &mut self.at(mark.at_ms).tally;
            tally.duplicates = tally.duplicates.saturating_add(mark.duplicates);
            tally.reordered = tally.reordered.saturating_add(mark.reordered);
        }
    }
    /// Adds windows of this length or of one that divides it.
    pub fn merge(&mut self, finer: &Windows) {
        for (start_ms, window) in finer.iter() {
            self.at(start_ms).merge(window);
        }
    }
    /// The bytes, with version and checksum.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(KIND);
        out.number(self.step_ms);
        out.number(self.by_number.len() as u64);
        let mut next = 0;
        for (number, window) in &self.by_number {
            out.number(number - next);
            next = number + 1;
            window.tally.fields().into_iter().for_each(|count| out.number(count));
            window.sketch.encode(&mut out);
        }
        out.finish()
    }
    /// What [`Windows::encode`] was given.
    ///
    /// # Errors
    /// Any other bytes are refused.
    pub fn decode(bytes: &[u8]) -> Result<Windows, DecodeError> {
        let mut from = Reader::open(bytes, KIND)?;
        let step_ms = from.number()?;
        let count = from.number()?;
        if step_ms == 0 {
            return Err(DecodeError::Time);
        }
        if count > (from.left() / MIN_BYTES) as u64 {
            return Err(DecodeError::Count(count));
        }
        let mut windows = Windows::new(step_ms);
        let mut next = 0_u64;
        for _ in 0..count {
            let number = next.checked_add(from.number()?).ok_or(DecodeError::Time)?;
            // The end of the window must be a time too.
            next = number.checked_add(1).ok_or(DecodeError::Time)?;
            next.checked_mul(step_ms).ok_or(DecodeError::Time)?;
            let mut window = Window::default();
            for field in window.tally.fields_mut() {
                *field = from.number()?;
            }
            window.sketch = Sketch::decode(&mut from)?;
            windows.by_number.insert(number, window);
        }
        from.end()?;
        Ok(windows)
    }
}
