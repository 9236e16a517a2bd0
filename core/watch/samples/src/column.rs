//! Columns of a plot.
use crate::{Chunk, Sketch, Tally, Windows};
use alloc::vec::Vec;
use core::ops::Range;
use fathom_units::WallTime;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// All samples of a period, as a plot shows them in one column.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Column {
    /// Start of the period.
    pub from: WallTime,
    /// End of the period (exclusive).
    pub to: WallTime,
    /// Counts of probe outcomes.
    pub tally: Tally,
    /// Histogram of the values.
    pub sketch: Sketch,
}

/// Adjacent columns, filled from samples or windows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    /// Edges in milliseconds: one more than columns.
    edges: Vec<u64>,
    columns: Vec<Column>,
}

impl Columns {
    /// Creates at most `count` columns from `from` to `to`. Their edges are multiples of `step_ms`,
    /// the length of the windows that will fill them, so that no window is in two columns. The
    /// first and the last edge move outward.
    pub fn new(from: WallTime, to: WallTime, count: usize, step_ms: u64) -> Self {
        let step = step_ms.max(1);
        let first = from.0 / NANOS_PER_MILLI / step;
        let last = to.0.div_ceil(NANOS_PER_MILLI).div_ceil(step);
        let steps = last.saturating_sub(first);
        let count = (count as u64).min(steps);
        let edge = |k: u64| {
            let inside =
                (u128::from(k) * u128::from(steps) + u128::from(count) / 2) / u128::from(count.max(1));
            (first + inside as u64).saturating_mul(step)
        };
        let edges: Vec<u64> = (0..=count).map(edge).collect();
        let wall = |ms: &u64| WallTime(ms.saturating_mul(NANOS_PER_MILLI));
        let sides = edges.iter().zip(edges.iter().skip(1));
        let columns =
            sides.map(|(a, b)| Column { from: wall(a), to: wall(b), ..Column::default() }).collect();
        Columns { edges, columns }
    }
    /// Adds the samples of a chunk that are in `within` (milliseconds).
    pub fn add_chunk(&mut self, chunk: &Chunk, within: &Range<u64>) {
        let mut samples = chunk.samples.as_slice();
        while let Some(first) = samples.first() {
            let (inside, place) = self.place(first.at_ms);
            // Samples are mostly in order, so one search serves all samples of a column.
            let run = samples.iter().take_while(|s| inside.contains(&s.at_ms)).count().max(1);
            let (these, rest) = samples.split_at(run);
            if let Some(column) = place.and_then(|i| self.columns.get_mut(i)) {
                for sample in these.iter().filter(|s| within.contains(&s.at_ms)) {
                    column.tally.add(sample.code);
                    column.sketch.add(sample.code);
                }
            }
            samples = rest;
        }
        for mark in chunk.marks.iter().filter(|m| within.contains(&m.at_ms)) {
            if let Some(column) = self.place(mark.at_ms).1.and_then(|i| self.columns.get_mut(i)) {
                column.tally.duplicates = column.tally.duplicates.saturating_add(mark.duplicates);
                column.tally.reordered = column.tally.reordered.saturating_add(mark.reordered);
            }
        }
    }
    /// Adds the windows that start in `within` (milliseconds).
    pub fn add_windows(&mut self, windows: &Windows, within: &Range<u64>) {
        for (start_ms, window) in windows.iter().filter(|(start_ms, _)| within.contains(start_ms)) {
            if let Some(column) = self.place(start_ms).1.and_then(|i| self.columns.get_mut(i)) {
                column.tally.merge(&window.tally);
                column.sketch.merge(&window.sketch);
            }
        }
    }
    /// The range of the columns, in milliseconds since 1970-01-01 UTC.
    pub fn range_ms(&self) -> Range<u64> {
        self.edges.first().copied().unwrap_or(0)..self.edges.last().copied().unwrap_or(0)
    }
    /// The columns in order of time.
    pub fn finish(self) -> Vec<Column> {
        self.columns
    }
    /// The range of times that share a column with `at_ms`, and the index of the column.
    fn place(&self, at_ms: u64) -> (Range<u64>, Option<usize>) {
        let above = self.edges.partition_point(|edge| *edge <= at_ms);
        let low = above.checked_sub(1);
        let from = low.and_then(|i| self.edges.get(i)).copied().unwrap_or(0);
        let to = self.edges.get(above).copied();
        (from..to.unwrap_or(u64::MAX), low.filter(|_| to.is_some()))
    }
}
