//! Reads a history on disk.
use crate::past::{Event, OpenPast, Past, Series};
use fathom_units::WallTime;
use fathom_watch_samples::{Column, Stored};
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Opens readers of the history in a directory.
pub fn history(directory: PathBuf) -> Box<OpenPast> {
    Box::new(move || Ok(Box::new(Reader(HistoryReader::open(&directory).map_err(error_text)?))))
}

struct Reader(HistoryReader);

fn error_text(error: HistoryError) -> String {
    error.to_string()
}

impl Past for Reader {
    fn series(&mut self) -> Result<Vec<Series>, String> {
        let all = self.0.series().map_err(error_text)?;
        let one = |(SeriesId(id), key): (SeriesId, fathom_watch_store::SeriesKey)| Series {
            id,
            target: key.target,
            probe: key.probe,
            unit: key.unit,
        };
        Ok(all.into_iter().map(one).collect())
    }

    fn columns(&mut self, series: u32, span: Range<WallTime>, count: usize) -> Result<Vec<Column>, String> {
        self.0.columns(SeriesId(series), span.start, span.end, count).map_err(error_text)
    }

    fn overview(
        &mut self,
        all: &[u32],
        span: Range<WallTime>,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, String> {
        let ids: Vec<SeriesId> = all.iter().copied().map(SeriesId).collect();
        self.0.overview(&ids, span.start, span.end, count).map_err(error_text)
    }

    fn samples(&mut self, series: u32, span: Range<WallTime>) -> Result<Vec<Stored>, String> {
        self.0.stored(SeriesId(series), span.start, span.end).map_err(error_text)
    }

    fn next(&mut self, series: u32, from: WallTime) -> Result<Option<WallTime>, String> {
        self.0.next(SeriesId(series), from).map_err(error_text)
    }

    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.0.stop_when(stop);
    }

    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String> {
        let all = self.0.events(span.start, span.end).map_err(error_text)?;
        let one = |(_, event): (_, fathom_watch_store::Event)| Event {
            at: event.at,
            until: event.until,
            series: event.series.map(|SeriesId(id)| id),
            kind: event.kind,
            text: event.text,
            value: event.value,
        };
        Ok(all.into_iter().map(one).collect())
    }
}
