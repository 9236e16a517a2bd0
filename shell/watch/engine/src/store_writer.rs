//! Writes to a history on disk.
use crate::history::{Event, HistoryWriter};
use fathom_units::WallTime;
use fathom_watch_samples::{Level, Sample, Unit};
use fathom_watch_store::{History, Repair, SeriesId, SeriesKey};

/// Writes to a history on disk. Reports each problem once, not every second.
pub struct StoreWriter {
    history: History,
    reported: Option<String>,
}

impl std::fmt::Debug for StoreWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreWriter").field("reported", &self.reported).finish_non_exhaustive()
    }
}

impl StoreWriter {
    /// Writes to `history`.
    #[must_use]
    pub const fn new(history: History) -> Self {
        StoreWriter { history, reported: None }
    }
}

impl HistoryWriter for StoreWriter {
    fn series(&mut self, target: &str, probe: &str, unit: Unit) -> Result<u32, String> {
        let key = SeriesKey { target: target.to_owned(), probe: probe.to_owned(), unit };
        self.history.series(&key).map(|SeriesId(number)| number).map_err(|e| e.to_string())
    }
    fn record(&mut self, series: u32, samples: &[Sample]) {
        self.history.record(SeriesId(series), samples);
    }
    fn amend(&mut self, series: u32, sample: Sample) {
        self.history.amend(SeriesId(series), sample);
    }
    fn count(&mut self, series: u32, at: WallTime, duplicates: u64, reordered: u64) {
        self.history.count(SeriesId(series), at, duplicates, reordered);
    }
    fn level(&mut self, series: u32, level: Level) {
        self.history.record_levels(SeriesId(series), &[level]);
    }
    fn event(&mut self, event: &Event, series: Option<u32>) {
        let Event { at, kind, text } = event.clone();
        let (kind, series) = (kind.to_owned(), series.map(SeriesId));
        self.history.event(&fathom_watch_store::Event { at, until: None, series, kind, text, value: None });
    }
    fn flush(&mut self, now: WallTime, last: bool) -> Result<(), String> {
        let repairs = if last { self.history.save(now) } else { self.history.flush(now) };
        let trouble = self.history.status().trouble.as_ref();
        let trouble = trouble.map(|t| format!("cannot write since {}: {}", t.since, t.text));
        let is_news = trouble != self.reported;
        self.reported.clone_from(&trouble);
        let lines: Vec<String> =
            repairs.iter().map(Repair::to_string).chain(trouble.filter(|_| is_news)).collect();
        if lines.is_empty() { Ok(()) } else { Err(lines.join("; ")) }
    }
}
