//! Reads a history while it is being written.
use crate::database::{self, FILE, VERSION};
use crate::error::Fault;
use crate::fill::Filler;
use crate::recover::{lost_end, newest};
use crate::table::{Table, unpack};
use crate::tail::Tail;
use crate::written::Written;
use crate::{Event, EventId, HistoryError, SeriesId, SeriesKey, event, series};
use fathom_units::WallTime;
use fathom_watch_samples::{Column, Frame, Level, Sample, Stored};
use rusqlite::Connection;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A reader; there may be any number of them, in any process. It never blocks the writer and sees
/// durable records: all except the last seconds.
///
/// Damaged data is skipped and reported by [`HistoryReader::faults`].
pub struct HistoryReader {
    path: PathBuf,
    db: Connection,
    /// Inode of the open database. It changes when the writer moves a damaged database aside.
    inode: Option<u64>,
    tail: Tail,
    /// Numbers of the first and last journal frame in `tail`.
    frames: Option<(i64, i64)>,
    faults: Vec<String>,
    stop: Arc<AtomicBool>,
}

impl HistoryReader {
    /// Opens the history in a directory for reading.
    ///
    /// # Errors
    /// If there is none, or if it is of a later version.
    pub fn open(dir: &Path) -> Result<HistoryReader, HistoryError> {
        // Read first: the database then has at least what the file says.
        let written = Written::read(dir);
        let mut reader = HistoryReader::open_file(&dir.join(FILE))?;
        // An error is reported by the next read.
        if let Ok(Some(version)) = database::later_version(&reader.db) {
            return Err(HistoryError::Newer { path: reader.path, version, known: VERSION });
        }
        if let Some(written) = written {
            // An error is reported by the next read.
            let lost = reader.read(|reader| Ok(reader.lost_end(written)?)).ok().flatten();
            reader.faults.extend(lost);
        }
        Ok(reader)
    }
    /// Opens a database that may have been moved aside.
    pub(crate) fn open_file(path: &Path) -> Result<HistoryReader, HistoryError> {
        let path = path.to_owned();
        let db = database::open_to_read(&path)
            .map_err(|source| HistoryError::Database { path: path.clone(), source })?;
        let inode = identity(&path);
        Ok(HistoryReader {
            path,
            db,
            inode,
            tail: Tail::default(),
            frames: None,
            faults: Vec::new(),
            stop: Arc::default(),
        })
    }
    /// All series.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn series(&mut self) -> Result<Vec<(SeriesId, SeriesKey)>, HistoryError> {
        self.read(|reader| Ok(series::list(&reader.db)?))
    }
    /// Events that started in a period or lasted into it, in order of start.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn events(&mut self, from: WallTime, to: WallTime) -> Result<Vec<(EventId, Event)>, HistoryError> {
        self.read(|reader| Ok(event::between(&reader.db, from, to)?))
    }
    /// At most `count` columns of a plot of a period. Each contains all samples from its `from` to
    /// its `to`. If columns are at least as wide as ten minutes, hours or days, these edges are
    /// aligned to them and move by at most half a column.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn columns(
        &mut self,
        SeriesId(series): SeriesId,
        from: WallTime,
        to: WallTime,
        count: usize,
    ) -> Result<Vec<Column>, HistoryError> {
        self.read(|reader| reader.filler().columns(series, from, to, count))
    }
    /// Columns of many series with the same edges.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn overview(
        &mut self,
        all: &[SeriesId],
        from: WallTime,
        to: WallTime,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, HistoryError> {
        self.read(|reader| {
            let mut filler = reader.filler();
            all.iter().map(|id| filler.columns(id.0, from, to, count)).collect()
        })
    }
    /// Every sample of a series of delays, in order of time.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn samples(
        &mut self,
        id: SeriesId,
        from: WallTime,
        to: WallTime,
    ) -> Result<Vec<Sample>, HistoryError> {
        Ok(self.stored(id, from, to)?.into_iter().map(Stored::sample).collect())
    }
    /// Every level of a series of rates or amounts, in order of time.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn levels(&mut self, id: SeriesId, from: WallTime, to: WallTime) -> Result<Vec<Level>, HistoryError> {
        Ok(self.stored(id, from, to)?.into_iter().map(Stored::level).collect())
    }
    /// Every sample in its stored form, in order of time.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn stored(
        &mut self,
        SeriesId(series): SeriesId,
        from: WallTime,
        to: WallTime,
    ) -> Result<Vec<Stored>, HistoryError> {
        self.read(|reader| reader.filler().samples(series, from, to))
    }
    /// A lower bound, from `from` on, of the time of the next sample of a series; `None` if there
    /// is no later sample.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn next(
        &mut self,
        SeriesId(series): SeriesId,
        from: WallTime,
    ) -> Result<Option<WallTime>, HistoryError> {
        self.read(|reader| reader.filler().next(series, from))
    }
    /// Ends the following reads with an error once `stop` is set.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }
    /// The newest sample of a series of delays.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn newest(&mut self, SeriesId(series): SeriesId) -> Result<Option<Sample>, HistoryError> {
        self.read(|reader| Ok(reader.filler().newest(series)?.map(Stored::sample)))
    }
    /// How far the history is written: the time of the newest record on disk, or the end of its ten
    /// minutes; `None` if there is none.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn written(&mut self) -> Result<Option<WallTime>, HistoryError> {
        self.read(|reader| Ok(newest(&reader.db, &reader.tail)))
    }
    /// Times of the oldest single sample and of the oldest histogram.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn oldest(&mut self) -> Result<(Option<WallTime>, Option<WallTime>), HistoryError> {
        let wall = |ms: Option<u64>| ms.map(|ms| WallTime(ms.saturating_mul(1_000_000)));
        self.read(|reader| {
            let db = &reader.db;
            let windows = [Table::TenMinutes, Table::Hours, Table::Days, Table::Recent];
            let oldest: Vec<_> = windows.into_iter().map(|t| t.oldest_ms(db)).collect::<Result<_, _>>()?;
            // If the clock was stepped back, ten minutes can be older than the six-hour chunks.
            let samples = [Table::Chunk.oldest_ms(db)?, Table::Part.oldest_ms(db)?];
            Ok((wall(samples.into_iter().flatten().min()), wall(oldest.into_iter().flatten().min())))
        })
    }
    /// Damage found since the last call.
    pub fn faults(&mut self) -> Vec<String> {
        core::mem::take(&mut self.faults)
    }
    fn filler(&mut self) -> Filler<'_> {
        Filler { db: &self.db, tail: &self.tail, faults: &mut self.faults, stop: &self.stop }
    }
    /// Reads from a consistent state of database and journal.
    pub(crate) fn read<T>(
        &mut self,
        what: impl FnOnce(&mut HistoryReader) -> Result<T, Fault>,
    ) -> Result<T, HistoryError> {
        let failed = |path: &Path, source| HistoryError::Database { path: path.into(), source };
        let now = identity(&self.path);
        if now.is_some() && now != self.inode {
            let (faults, stop) = (core::mem::take(&mut self.faults), Arc::clone(&self.stop));
            *self = HistoryReader { faults, stop, ..HistoryReader::open_file(&self.path)? };
        }
        self.db.execute_batch("BEGIN").map_err(|e| failed(&self.path, e))?;
        let result = self.refresh().map_err(Fault::Sql).and_then(|()| what(self));
        // Nothing was written, so this cannot fail.
        let _ = self.db.execute_batch("COMMIT");
        result.map_err(|fault| match fault {
            Fault::Sql(source) => failed(&self.path, source),
            Fault::Blob { table, id, why } => {
                self.faults.push(format!("row {id} of {table} {why}"));
                failed(&self.path, rusqlite::Error::InvalidQuery)
            }
        })
    }
    pub(crate) fn db(&self) -> &Connection {
        &self.db
    }
    /// Describes what was written but is not in the database.
    fn lost_end(&self, written: Written) -> rusqlite::Result<Option<String>> {
        if written.frame <= database::last_frame(&self.db)? {
            return Ok(None);
        }
        let from = newest(&self.db, &self.tail).unwrap_or(written.at);
        Ok(Some(lost_end(from, written.at)))
    }
    /// The days that have samples of a series.
    pub(crate) fn days(&mut self, SeriesId(series): SeriesId) -> Result<Vec<Range<WallTime>>, HistoryError> {
        self.read(|reader| reader.filler().days(series))
    }
    /// Reads new journal frames, or the whole journal after it was replaced.
    fn refresh(&mut self) -> rusqlite::Result<()> {
        let mut ends = self.db.prepare_cached("SELECT min(id), max(id) FROM journal")?;
        let (first, last): (Option<i64>, Option<i64>) =
            ends.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        drop(ends);
        let (Some(first), Some(last)) = (first, last) else {
            self.tail = Tail::default();
            self.frames = None;
            return Ok(());
        };
        let after = match self.frames {
            Some((had_first, had_last)) if had_first == first => had_last,
            _ => {
                self.tail = Tail::default();
                first - 1
            }
        };
        for (id, frame) in journal(&self.db, after)? {
            match frame {
                Ok(frame) => self.tail.replay(frame),
                Err(why) => self.faults.push(format!("row {id} of journal {why}")),
            }
        }
        self.frames = Some((first, last));
        Ok(())
    }
}

/// The journal frames after a number, with errors for damaged ones.
pub(crate) fn journal(db: &Connection, after: i64) -> rusqlite::Result<Vec<(i64, Result<Frame, String>)>> {
    let mut statement = db.prepare_cached("SELECT id, packed FROM journal WHERE id > ? ORDER BY id")?;
    let rows = statement.query_map([after], |row| {
        let bytes = row.get_ref(1)?.as_blob().map_err(|e| e.to_string());
        Ok((row.get(0)?, bytes.and_then(frame)))
    })?;
    rows.collect()
}

/// Identifies a file even if it is renamed.
fn identity(path: &Path) -> Option<u64> {
    std::fs::metadata(path).map(|m| m.ino()).ok()
}

/// Decodes a journal frame.
fn frame(packed: &[u8]) -> Result<Frame, String> {
    let bytes = unpack(packed).map_err(|e| format!("cannot be decompressed ({e})"))?;
    Frame::decode(&bytes).map_err(|e| e.to_string())
}
