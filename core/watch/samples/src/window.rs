//! Windows: summaries of fixed periods, the rollups of a store.
use crate::bytes::{DecodeError, Reader, Writer};
use crate::{Chunk, Code, Sketch, Tally};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

const KIND: u8 = b'w';

/// Bytes of the smallest window: its position, seven counts, and an empty sketch.
const MIN_BYTES: usize = 10;

/// Counts and histogram of a period.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Window {
    /// Counts of probe outcomes.
    pub tally: Tally,
    /// Histogram of the values.
    pub sketch: Sketch,
}

/// Adjacent windows of one length, aligned to multiples of it in UTC. Periods without samples have
/// no window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Windows {
    step_ms: u64,
    by_number: BTreeMap<u64, Window>,
}

impl Window {
    /// Adds one sample.
    pub fn add(&mut self, code: Code) {
        self.tally.add(code);
        self.sketch.add(code);
    }
    /// Adds the content of `other`.
    pub fn merge(&mut self, other: &Window) {
        self.tally.merge(&other.tally);
        self.sketch.merge(&other.sketch);
    }
    /// Changes the outcome of a sample that was counted as lost.
    pub fn amend(&mut self, code: Code) {
        if self.tally.lost > 0 {
            self.tally.lost -= 1;
            self.tally.sent -= 1;
        }
        self.add(code);
    }
}

impl Windows {
    /// Creates an empty set with a window length in milliseconds (at least 1).
    pub fn new(step_ms: u64) -> Self {
        Windows { step_ms: step_ms.max(1), by_number: BTreeMap::new() }
    }
    /// Window length in milliseconds.
    pub fn step_ms(&self) -> u64 {
        self.step_ms
    }
    /// Whether all windows are empty.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }
    /// Start in milliseconds since 1970-01-01 UTC and content, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Window)> {
        self.by_number.iter().map(|(number, window)| (number.saturating_mul(self.step_ms), window))
    }
    /// The window that contains `at_ms`.
    pub fn at(&mut self, at_ms: u64) -> &mut Window {
        self.by_number.entry(at_ms / self.step_ms).or_default()
    }
    /// Number of lost probes in the window that contains `at_ms`.
    pub fn lost_at(&self, at_ms: u64) -> u64 {
        self.by_number.get(&(at_ms / self.step_ms)).map_or(0, |window| window.tally.lost)
    }
    /// Adds a chunk.
    pub fn add_chunk(&mut self, chunk: &Chunk) {
        // Adjacent samples are mostly in one window, so it is looked up once.
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
    /// Adds windows of the same length or of a length that divides it.
    pub fn merge(&mut self, finer: &Windows) {
        for (start_ms, window) in finer.iter() {
            self.at(start_ms).merge(window);
        }
    }
    /// Encodes the windows, with version and checksum.
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
    /// Decodes the output of [`Windows::encode`].
    ///
    /// # Errors
    /// Refuses any other bytes.
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
            // The end of the window must be a valid time too.
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
