//! Reads the history.
use crate::cursor::Counts;
use crate::hour::Hour;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Column, Tally};
use fathom_watch_store::export::{Export, ExportError, Parquet, Table};
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId, SeriesKey};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Series whose counts are read at once: with the columns of 48 hours, they take some megabytes.
const READ_AT_ONCE: usize = 50;
/// Window length.
const WINDOW: Duration = Duration::from_secs(600);

/// The content of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Every probe.
    Samples,
    /// Windows of ten minutes.
    Windows,
}

/// The history, opened once it exists.
pub(crate) struct Feed {
    dir: PathBuf,
    stop: Arc<AtomicBool>,
    reader: Option<HistoryReader>,
}

impl Feed {
    /// Reading ends with an error once `stop` is set.
    pub(crate) fn new(dir: &Path, stop: Arc<AtomicBool>) -> Feed {
        Feed { dir: dir.to_owned(), stop, reader: None }
    }
    fn reader(&mut self) -> Result<&mut HistoryReader, HistoryError> {
        match &mut self.reader {
            Some(reader) => Ok(reader),
            slot => {
                let mut reader = HistoryReader::open(&self.dir)?;
                reader.stop_when(Arc::clone(&self.stop));
                Ok(slot.insert(reader))
            }
        }
    }
    /// All series in the order of their names: numbers depend on the past.
    fn series(&mut self) -> Result<Vec<(SeriesId, SeriesKey)>, HistoryError> {
        let mut all = self.reader()?.series()?;
        all.sort_by(|(_, a), (_, b)| a.cmp(b));
        Ok(all)
    }
    /// The time up to which the history is written.
    pub(crate) fn written(&mut self) -> Result<Option<WallTime>, HistoryError> {
        self.reader()?.written()
    }
    /// The first hour from `from` on that can have samples.
    pub(crate) fn next(&mut self, from: Hour) -> Result<Option<Hour>, HistoryError> {
        let series = self.series()?;
        let reader = self.reader()?;
        let mut first: Option<WallTime> = None;
        for (id, _) in series {
            if let Some(next) = reader.next(id, from.start())? {
                first = Some(first.map_or(next, |first| first.min(next)));
                if Hour::of(next) == from {
                    break;
                }
            }
        }
        Ok(first.map(Hour::of))
    }
    /// The first hour of which all samples are kept: whole days are dropped.
    pub(crate) fn oldest(&mut self) -> Result<Hour, HistoryError> {
        let (samples, _) = self.reader()?.oldest()?;
        Ok(samples.map(Hour::of).unwrap_or_default())
    }
    /// Counts of successive hours, also of those whose samples were dropped.
    pub(crate) fn counts(&mut self, from: Hour, hours: u64) -> Result<Vec<Counts>, HistoryError> {
        if hours == 0 {
            return Ok(Vec::new());
        }
        let ids: Vec<SeriesId> = self.series()?.into_iter().map(|(id, _)| id).collect();
        let to = Hour(from.0 + hours).start();
        let mut sums = vec![Counts::default(); hours as usize];
        for some in ids.chunks(READ_AT_ONCE) {
            for columns in self.reader()?.overview(some, from.start(), to, hours as usize)? {
                sums.iter_mut().zip(&columns).for_each(|(sum, column)| add(sum, column));
            }
        }
        Ok(sums)
    }
    /// Writes the table of an hour; returns the number of rows.
    pub(crate) fn write(&mut self, content: Content, hour: Hour, to: File) -> Result<u64, ExportError> {
        let every = (content == Content::Windows).then_some(WINDOW);
        let export = Export { from: hour.start(), to: hour.end(), every };
        let series = self.series()?;
        let mut table = Box::new(Parquet::new(to, export.fields())?);
        let rows = export.write(self.reader()?, &series, table.as_mut())?;
        table.finish()?;
        Ok(rows)
    }
    /// Damage found in the history.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        self.reader.as_mut().map(HistoryReader::faults).unwrap_or_default()
    }
}

fn add(sum: &mut Counts, column: &Column) {
    let Tally { sent, answered, late, lost, failed, duplicates, reordered } = column.tally;
    let counts = [sent, answered, late, lost, failed, duplicates, reordered];
    sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
}
