//! Writes a history.
use crate::event::Events;
use crate::series::{Book, MAX_SERIES};
use crate::tail::Tail;
use crate::{Event, EventId, HistoryConfig, HistoryError, SeriesId, SeriesKey};
use fathom_units::{Bytes, WallTime};
use fathom_watch_samples::{Code, Level, Mark, Outcome, Sample, Stored};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) const NANOS_PER_MILLI: u64 = 1_000_000;

/// The only writer of a history. Records stay in memory until [`History::flush`] makes them
/// durable; none is refused.
pub struct History {
    pub(crate) dir: PathBuf,
    pub(crate) config: HistoryConfig,
    /// Held while this value exists, so that no other process writes.
    pub(crate) _lock: Connection,
    pub(crate) db: Connection,
    pub(crate) book: Book,
    pub(crate) tail: Tail,
    pub(crate) events: Events,
    /// Late answers to samples that are already in a part or chunk.
    pub(crate) late: Vec<(u32, Stored)>,
    /// Six-hour periods with parts, and days with windows, of each series: pending compactions.
    pub(crate) chunks: BTreeSet<(u64, u32)>,
    pub(crate) days: BTreeSet<(u64, u32)>,
    pub(crate) last_flush: Option<WallTime>,
    pub(crate) last_tidy: Option<WallTime>,
    /// When room was first made, and how often, without a successful flush since.
    pub(crate) room_made: Option<(WallTime, u32)>,
    pub(crate) status: Status,
}

/// Status of the writer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Status {
    /// Why nothing can be written; recording continues in memory.
    pub trouble: Option<Trouble>,
    /// Samples only in memory.
    pub unsaved_samples: u64,
    /// Samples dropped because memory was full before the disk could be written.
    pub dropped_samples: u64,
    /// Those of earlier periods in which nothing could be written.
    pub(crate) dropped_before: u64,
    /// Bytes of the database in use.
    pub used: Bytes,
    /// Single samples before this time were dropped for lack of space.
    pub room_made_before: Option<WallTime>,
    /// Late answers without a matching lost sample.
    pub unmatched: u64,
}

/// Why nothing can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Start of the problem.
    pub since: WallTime,
    /// Description.
    pub text: String,
}

impl History {
    /// The number of a series; a new one if it is unknown.
    ///
    /// # Errors
    /// [`HistoryError::TooManySeries`].
    pub fn series(&mut self, key: &SeriesKey) -> Result<SeriesId, HistoryError> {
        let path = || self.dir.join(crate::database::FILE);
        let number = self.book.number(key);
        number.map(SeriesId).ok_or_else(|| HistoryError::TooManySeries { path: path(), limit: MAX_SERIES })
    }
    /// Records samples of a series of delays.
    pub fn record(&mut self, SeriesId(series): SeriesId, samples: &[Sample]) {
        for sample in samples {
            self.tail.add(series, sample.at, Code::of(sample.outcome));
        }
    }
    /// Records levels of a series of rates or amounts.
    pub fn record_levels(&mut self, SeriesId(series): SeriesId, levels: &[Level]) {
        for level in levels {
            self.tail.add(series, level.at, level.value.map_or(Code::FAILED, Code::level));
        }
    }
    /// Records a late answer to the probe sent at `sample.at`, which was recorded as lost.
    pub fn amend(&mut self, SeriesId(series): SeriesId, sample: Sample) {
        // No other outcome can follow a loss.
        let late = match sample.outcome {
            Outcome::Answered(rtt) => Sample { outcome: Outcome::Late(rtt), ..sample },
            _ => sample,
        };
        let stored = Stored::of(late);
        if !self.tail.amend(series, stored) {
            self.late.push((series, stored));
        }
    }
    /// Adds duplicate and reordered replies.
    pub fn count(&mut self, SeriesId(series): SeriesId, at: WallTime, duplicates: u64, reordered: u64) {
        self.tail.mark(series, Mark { at_ms: at.0 / NANOS_PER_MILLI, duplicates, reordered });
    }
    /// Records an event.
    pub fn event(&mut self, event: &Event) -> EventId {
        self.events.add(event.clone())
    }
    /// Ends an event.
    pub fn end_event(&mut self, id: EventId, until: WallTime) {
        self.events.end(id, until);
    }
    /// The current status.
    pub fn status(&self) -> &Status {
        &self.status
    }
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join(crate::database::FILE)
    }
}
