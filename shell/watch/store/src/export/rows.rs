//! Converts the history to rows.
use super::{Cell, Field, ROLLUPS, SAMPLES, Table};
use crate::{HistoryError, HistoryReader, SeriesId, SeriesKey};
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Code, Column, Stored, Unit};
use std::fmt;
use std::io;

/// Period of samples read at once: one chunk.
const READ_NS: u64 = 6 * 3_600 * 1_000_000_000;
/// Number of windows read at once.
const READ_WINDOWS: u64 = 1_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// Window lengths: those that the history keeps for years, and shorter ones that need single
/// samples.
pub const WINDOWS: [(&str, Duration); 6] = [
    ("1s", Duration::from_nanos(1_000_000_000)),
    ("10s", Duration::from_nanos(10_000_000_000)),
    ("1min", Duration::from_nanos(MINUTE_NS)),
    ("10min", Duration::from_nanos(10 * MINUTE_NS)),
    ("1h", Duration::from_nanos(60 * MINUTE_NS)),
    ("1d", Duration::from_nanos(1_440 * MINUTE_NS)),
];

/// What to export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Start of the period.
    pub from: WallTime,
    /// End of the period.
    pub to: WallTime,
    /// Window length; `None` for single samples.
    pub every: Option<Duration>,
}

/// Why an export ended early.
#[derive(Debug)]
pub enum ExportError {
    /// The history cannot be read.
    History(HistoryError),
    /// The table cannot be written.
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::History(error) => error.fmt(f),
            ExportError::Write(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for ExportError {}

impl From<HistoryError> for ExportError {
    fn from(error: HistoryError) -> Self {
        ExportError::History(error)
    }
}
impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        ExportError::Write(error)
    }
}

impl Export {
    /// Columns of the table.
    #[must_use]
    pub const fn fields(&self) -> &'static [Field<'static>] {
        if self.every.is_some() { &ROLLUPS } else { &SAMPLES }
    }
    /// Writes the given series one after the other; returns the number of rows.
    ///
    /// # Errors
    /// If the history cannot be read or the table cannot be written; rows written before remain.
    pub fn write(
        &self,
        reader: &mut HistoryReader,
        all: &[(SeriesId, SeriesKey)],
        to: &mut dyn Table,
    ) -> Result<u64, ExportError> {
        let mut rows = 0;
        // Skip the time before the oldest data.
        let (samples, windows) = reader.oldest()?;
        let oldest = [samples, windows].into_iter().flatten().min();
        let from = oldest.map_or(self.from, |oldest| self.from.max(oldest));
        for (id, key) in all {
            rows += match self.every {
                None => self.samples(reader, (*id, key), from, to)?,
                Some(every) => self.windows(reader, (*id, key), (from, every.as_nanos()), to)?,
            };
        }
        Ok(rows)
    }
    fn samples(
        &self,
        reader: &mut HistoryReader,
        (id, key): (SeriesId, &SeriesKey),
        from: WallTime,
        to: &mut dyn Table,
    ) -> Result<u64, ExportError> {
        let (mut at, mut rows) = (from.0, 0);
        while at < self.to.0 {
            let end = (at / READ_NS + 1).saturating_mul(READ_NS).min(self.to.0);
            for stored in reader.stored(id, WallTime(at), WallTime(end))? {
                to.row(&sample(key, stored))?;
                rows += 1;
            }
            at = end;
        }
        Ok(rows)
    }
    fn windows(
        &self,
        reader: &mut HistoryReader,
        (id, key): (SeriesId, &SeriesKey),
        (from, every_ns): (WallTime, u64),
        to: &mut dyn Table,
    ) -> Result<u64, ExportError> {
        // Windows start at multiples of their length in UTC.
        let (mut at, mut rows) = (from.0 / every_ns * every_ns, 0);
        let last = self.to.0.div_ceil(every_ns).saturating_mul(every_ns);
        while at < last {
            let count = ((last - at) / every_ns).min(READ_WINDOWS);
            let end = at + count * every_ns;
            let columns = reader.columns(id, WallTime(at), WallTime(end), count as usize)?;
            for column in columns.iter().filter(|column| !is_empty(column)) {
                to.row(&window(key, column))?;
                rows += 1;
            }
            at = end;
        }
        Ok(rows)
    }
}

fn is_empty(column: &Column) -> bool {
    let t = &column.tally;
    t.sent + t.failed + t.duplicates + t.reordered == 0
}

const fn millis(at: WallTime) -> u64 {
    at.0 / 1_000_000
}

fn sample(key: &SeriesKey, stored: Stored) -> [Cell<'_>; SAMPLES.len()] {
    let outcome = match (stored.code, key.unit) {
        (Code::LOST, _) => "lost",
        (Code::FAILED, _) => "failed",
        (_, Unit::BitsPerSecond | Unit::Bytes) => "read",
        (late, Unit::Seconds) if late.is_late() => "late",
        _ => "answered",
    };
    let of = |unit| Cell::Number(stored.code.value().filter(|_| key.unit == unit));
    [
        Cell::Text(&key.target),
        Cell::Text(&key.probe),
        Cell::Whole(stored.at_ms),
        Cell::Text(outcome),
        of(Unit::Seconds),
        of(Unit::BitsPerSecond),
        of(Unit::Bytes),
    ]
}

fn window<'a>(key: &'a SeriesKey, column: &Column) -> [Cell<'a>; ROLLUPS.len()] {
    let (t, sketch) = (&column.tally, &column.sketch);
    let of = |unit, value: Option<f64>| Cell::Number(value.filter(|_| key.unit == unit));
    let mean = (sketch.count() > 0).then(|| sketch.sum() / sketch.count() as f64);
    let seconds = |value| of(Unit::Seconds, value);
    [
        Cell::Text(&key.target),
        Cell::Text(&key.probe),
        Cell::Whole(millis(column.from)),
        Cell::Whole(millis(column.to)),
        Cell::Whole(t.sent),
        Cell::Whole(t.answered),
        Cell::Whole(t.late),
        Cell::Whole(t.lost),
        Cell::Whole(t.failed),
        Cell::Whole(t.duplicates),
        Cell::Whole(t.reordered),
        seconds(sketch.min()),
        seconds(sketch.quantile(0.5)),
        seconds(sketch.quantile(0.9)),
        seconds(sketch.quantile(0.95)),
        seconds(sketch.quantile(0.99)),
        seconds(sketch.max()),
        seconds(mean),
        of(Unit::BitsPerSecond, mean),
        of(Unit::BitsPerSecond, sketch.max()),
        of(Unit::Bytes, mean),
        of(Unit::Bytes, sketch.max()),
    ]
}
