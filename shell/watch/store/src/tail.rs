//! Samples in memory, of ten-minute slots that are not over. Most are in the journal too.
use crate::series::MAX_SERIES;
use crate::table::SLOT_MS;
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Code, Entry, Frame, Grid, Mark, Stored};
use std::collections::{BTreeMap, BTreeSet};

/// Delay between the end of a slot and writing its part, in milliseconds: by then most late answers
/// have arrived.
const GRACE_MS: u64 = 60_000;

/// Open samples of all series.
#[derive(Default)]
pub(crate) struct Tail {
    /// Indexed by series number.
    series: Vec<Open>,
    /// Ten-minute slots that have samples or marks.
    slots: BTreeSet<u64>,
}

/// Open samples of one series in order of arrival.
#[derive(Default)]
struct Open {
    grid: Grid,
    chunk: Chunk,
    /// Numbers of samples and marks that are in the journal.
    saved: (usize, usize),
    /// Samples in the journal whose code has changed since.
    amended: Vec<Stored>,
}

impl Tail {
    fn open(&mut self, series: u32) -> &mut Open {
        let index = series as usize;
        if self.series.len() <= index {
            self.series.resize_with(index + 1, Open::default);
        }
        &mut self.series[index]
    }
    fn numbered(&self) -> impl Iterator<Item = (u32, &Open)> {
        (0_u32..).zip(&self.series)
    }
    /// Adds a sample on the time grid of its series.
    pub(crate) fn add(&mut self, series: u32, at: WallTime, code: Code) {
        let open = self.open(series);
        let at_ms = open.grid.place(at);
        open.chunk.samples.push(Stored { at_ms, code });
        self.slots.insert(at_ms / SLOT_MS);
    }
    pub(crate) fn mark(&mut self, series: u32, mark: Mark) {
        self.slots.insert(mark.at_ms / SLOT_MS);
        self.open(series).chunk.marks.push(mark);
    }
    /// Replaces the code of a lost sample; false if it is not here.
    pub(crate) fn amend(&mut self, series: u32, stored: Stored) -> bool {
        let Some(open) = self.series.get_mut(series as usize) else { return false };
        let Some(place) = open.chunk.amend(stored) else { return false };
        if place < open.saved.0 {
            open.amended.push(stored);
        }
        true
    }
    /// Replays a journal frame.
    pub(crate) fn replay(&mut self, frame: Frame) {
        // Higher numbers are never assigned.
        for mut entry in frame.entries.into_iter().filter(|entry| entry.series < MAX_SERIES) {
            let (samples, marks) = (entry.new.samples.iter(), entry.new.marks.iter());
            let times = samples.map(|s| s.at_ms).chain(marks.map(|m| m.at_ms));
            self.slots.extend(times.map(|ms| ms / SLOT_MS));
            let open = self.open(entry.series);
            open.chunk.append(&mut entry.new);
            open.saved = (open.chunk.samples.len(), open.chunk.marks.len());
            for stored in entry.amended {
                open.chunk.amend(stored);
            }
        }
    }
    /// The data that is not in the journal.
    pub(crate) fn unsaved(&self) -> Frame {
        let entries = self.numbered().filter_map(|(series, open)| {
            let samples = open.chunk.samples.get(open.saved.0..).unwrap_or_default().to_vec();
            let marks = open.chunk.marks.get(open.saved.1..).unwrap_or_default().to_vec();
            let new = Chunk { samples, marks };
            let some = !(new.is_empty() && open.amended.is_empty());
            some.then(|| Entry { series, new, amended: open.amended.clone() })
        });
        Frame { entries: entries.collect() }
    }
    /// Marks everything as saved.
    pub(crate) fn saved(&mut self) {
        for open in &mut self.series {
            open.saved = (open.chunk.samples.len(), open.chunk.marks.len());
            open.amended.clear();
        }
    }
    /// Ten-minute slots that are over, or that the clock has left by stepping back.
    pub(crate) fn over(&self, now_ms: u64) -> BTreeSet<u64> {
        let is_over = |slot: &u64| {
            let start = slot * SLOT_MS;
            start + SLOT_MS + GRACE_MS <= now_ms || start > now_ms + GRACE_MS
        };
        self.slots.iter().copied().filter(is_over).collect()
    }
    /// The data of these slots by slot and series, and a frame of the rest.
    pub(crate) fn split(&self, over: &BTreeSet<u64>) -> (BTreeMap<(u64, u32), Chunk>, Frame) {
        let (mut parts, mut rest) = (BTreeMap::<(u64, u32), Chunk>::new(), Frame::default());
        for (series, open) in self.numbered() {
            let mut left = Chunk::default();
            for sample in &open.chunk.samples {
                let slot = sample.at_ms / SLOT_MS;
                let of =
                    if over.contains(&slot) { parts.entry((slot, series)).or_default() } else { &mut left };
                of.samples.push(*sample);
            }
            for mark in &open.chunk.marks {
                let slot = mark.at_ms / SLOT_MS;
                let of =
                    if over.contains(&slot) { parts.entry((slot, series)).or_default() } else { &mut left };
                of.marks.push(*mark);
            }
            if !left.is_empty() {
                rest.entries.push(Entry { series, new: left, amended: Vec::new() });
            }
        }
        (parts, rest)
    }
    /// Removes these slots and marks the rest as saved.
    pub(crate) fn sealed(&mut self, over: &BTreeSet<u64>) {
        for open in &mut self.series {
            open.chunk.samples.retain(|s| !over.contains(&(s.at_ms / SLOT_MS)));
            open.chunk.marks.retain(|m| !over.contains(&(m.at_ms / SLOT_MS)));
        }
        self.slots.retain(|slot| !over.contains(slot));
        self.saved();
    }
    /// All data as one frame, for a new journal.
    pub(crate) fn whole(&self) -> Frame {
        self.split(&BTreeSet::new()).1
    }
    /// Time of the newest sample.
    pub(crate) fn newest_ms(&self) -> Option<u64> {
        self.series.iter().flat_map(|open| &open.chunk.samples).map(|sample| sample.at_ms).max()
    }
    pub(crate) fn chunk(&self, series: u32) -> Option<&Chunk> {
        self.series.get(series as usize).map(|open| &open.chunk)
    }
    pub(crate) fn samples(&self) -> usize {
        self.series.iter().map(|open| open.chunk.samples.len()).sum()
    }
    pub(crate) fn unsaved_samples(&self) -> usize {
        self.series.iter().map(|open| open.chunk.samples.len() - open.saved.0).sum()
    }
    /// Drops the oldest samples beyond `limit`; returns how many.
    pub(crate) fn trim(&mut self, limit: usize) -> usize {
        let excess = self.samples().saturating_sub(limit);
        if excess == 0 {
            return 0;
        }
        let mut times: Vec<u64> =
            self.series.iter().flat_map(|open| &open.chunk.samples).map(|s| s.at_ms).collect();
        let (_, nth, _) = times.select_nth_unstable(excess - 1);
        let newest_to_go = *nth;
        let before = self.samples();
        for open in &mut self.series {
            let gone =
                open.chunk.samples.iter().take(open.saved.0).filter(|s| s.at_ms <= newest_to_go).count();
            open.saved.0 -= gone;
            open.chunk.samples.retain(|s| s.at_ms > newest_to_go);
        }
        before - self.samples()
    }
}
