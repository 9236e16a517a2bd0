//! The one who writes a history.
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

/// The only writer of a history. What it is given is in memory until [`History::flush`] makes it
/// durable; nothing it is given is refused.
pub struct History {
    pub(crate) dir: PathBuf,
    pub(crate) config: HistoryConfig,
    /// Held as long as this lives, so that no other process writes.
    pub(crate) _lock: Connection,
    pub(crate) db: Connection,
    pub(crate) book: Book,
    pub(crate) tail: Tail,
    pub(crate) events: Events,
    /// Late answers to samples that are in a part or a chunk already.
    pub(crate) late: Vec<(u32, Stored)>,
    /// Stretches of six hours that have parts, and days that have windows of them, for each series:
    /// to be put together.
    pub(crate) chunks: BTreeSet<(u64, u32)>,
    pub(crate) days: BTreeSet<(u64, u32)>,
    pub(crate) last_flush: Option<WallTime>,
    pub(crate) last_tidy: Option<WallTime>,
    /// Since when and how often room was made without a flush that succeeded.
    pub(crate) room_made: Option<(WallTime, u32)>,
    pub(crate) status: Status,
}

/// How the writer fares.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Status {
    /// Why nothing can be written now; recording goes on in memory.
    pub trouble: Option<Trouble>,
    /// Samples that are in memory alone.
    pub unsaved_samples: u64,
    /// Samples that went because memory was full before the disk could be written.
    pub dropped_samples: u64,
    /// Bytes of the database in use.
    pub used: Bytes,
    /// Single samples from before this were dropped for want of room.
    pub room_made_before: Option<WallTime>,
    /// Late answers to samples that are not known, or not lost.
    pub unmatched: u64,
}

/// Why nothing can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Since when.
    pub since: WallTime,
    /// In words.
    pub text: String,
}

impl History {
    /// The number of a series; a new one if it is not known.
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
    /// The probe sent at `sample.at`, recorded as lost, was answered late after all.
    pub fn amend(&mut self, SeriesId(series): SeriesId, sample: Sample) {
        // Nothing else can become of a lost probe.
        let late = match sample.outcome {
            Outcome::Answered(rtt) => Sample { outcome: Outcome::Late(rtt), ..sample },
            _ => sample,
        };
        let stored = Stored::of(late);
        if !self.tail.amend(series, stored) {
            self.late.push((series, stored));
        }
    }
    /// Counts answers that came again, and answers that overtook one of an earlier probe.
    pub fn count(&mut self, SeriesId(series): SeriesId, at: WallTime, duplicates: u64, reordered: u64) {
        self.tail.mark(series, Mark { at_ms: at.0 / NANOS_PER_MILLI, duplicates, reordered });
    }
    /// Records an event.
    pub fn event(&mut self, event: &Event) -> EventId {
        self.events.add(event.clone())
    }
    /// An event that lasted has ended.
    pub fn end_event(&mut self, id: EventId, until: WallTime) {
        self.events.end(id, until);
    }
    /// How the writer fares.
    pub fn status(&self) -> &Status {
        &self.status
    }
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join(crate::database::FILE)
    }
}
