//! Writes to a history on disk.
use crate::history::{Event, FlushReport, HistoryWriter};
use fathom_units::WallTime;
use fathom_watch_plan::OwnTrouble;
use fathom_watch_samples::{Level, Sample, Unit};
use fathom_watch_store::{History, Repair, SeriesId, SeriesKey};

/// Writes to a history on disk. Reports each problem once, not every second.
pub struct StoreWriter {
    history: History,
    reported: Option<OwnTrouble>,
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
    fn flush(&mut self, now: WallTime, last: bool) -> FlushReport {
        let repairs = if last { self.history.close(now) } else { self.history.flush(now) };
        let status = self.history.status();
        let (unsaved_samples, dropped_samples) = (status.unsaved_samples, status.dropped_samples);
        let trouble = status.trouble.as_ref().map(|trouble| OwnTrouble {
            kind: "history",
            since: trouble.since,
            text: trouble.text.clone(),
        });
        let mut news: Vec<String> = repairs.iter().map(Repair::to_string).collect();
        match (&self.reported, &trouble) {
            (before, Some(trouble)) if before.as_ref() != Some(trouble) => {
                news.push(format!("{} (since {})", trouble.text, trouble.since));
            }
            (Some(before), None) => {
                news.push(format!("the history is written again; it could not be since {}", before.since));
            }
            _ => {}
        }
        self.reported.clone_from(&trouble);
        FlushReport { news, trouble, unsaved_samples, dropped_samples }
    }
}
