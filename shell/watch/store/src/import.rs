//! Imports past samples from elsewhere.
use crate::error::Fault;
use crate::table::{CHUNK_MS, DAY_MS, HOUR_MS, SLOT_MS, Table};
use crate::tail::Tail;
use crate::writer::NANOS_PER_MILLI;
use crate::{History, HistoryError, SeriesId};
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Stored, Windows};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// Result of an import.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ImportSummary {
    /// Samples imported.
    pub samples: u64,
    /// Samples skipped because their ten-minute slot already had data of this series.
    pub known: u64,
    /// Samples skipped because they are older than the retention, or too recent.
    pub out_of_time: u64,
}

impl History {
    /// Imports past samples in one transaction.
    ///
    /// Ten-minute slots that already have data of this series are left unchanged, so importing the
    /// same samples twice has no effect. Samples older than the retention of single samples become
    /// histograms.
    ///
    /// # Errors
    /// If the database cannot be written; then nothing is changed.
    pub fn bring_in(
        &mut self,
        SeriesId(series): SeriesId,
        samples: &[Stored],
        now: WallTime,
    ) -> Result<ImportSummary, HistoryError> {
        let brought = self.bring_in_all(series, samples, now.0 / NANOS_PER_MILLI);
        brought.map_err(|fault| match fault {
            Fault::Sql(source) => HistoryError::Database { path: self.path(), source },
            Fault::Blob { table, id, why } => HistoryError::System {
                path: self.path(),
                source: std::io::Error::other(format!("row {id} of {table} {why}")),
            },
        })
    }
    fn bring_in_all(&mut self, series: u32, samples: &[Stored], now_ms: u64) -> Result<ImportSummary, Fault> {
        let transaction = self.db.unchecked_transaction()?;
        // A new series must exist together with its samples.
        self.book.write(&transaction)?;
        let cut = |keep: Option<fathom_units::Duration>| {
            keep.map_or(0, |keep| now_ms.saturating_sub(keep.as_nanos() / NANOS_PER_MILLI))
        };
        let from_ms = cut(self.config.keep.ten_minutes);
        let samples_from_ms = cut(self.config.keep.samples).max(oldest_day_of_samples(&transaction)?);
        // Recent slots are left to normal recording.
        let until_ms = now_ms.saturating_sub(2 * SLOT_MS);
        let mut brought = ImportSummary::default();
        let mut days: BTreeMap<u64, Chunk> = BTreeMap::new();
        for sample in samples {
            if (from_ms..until_ms).contains(&sample.at_ms) {
                days.entry(sample.at_ms / DAY_MS).or_default().samples.push(*sample);
            } else {
                brought.out_of_time += 1;
            }
        }
        for (day, mut chunk) in days {
            let known = known_slots(&transaction, &self.tail, series, day * DAY_MS)?;
            let before = chunk.samples.len();
            chunk.samples.retain(|sample| !known.contains(&(sample.at_ms / SLOT_MS)));
            brought.known += (before - chunk.samples.len()) as u64;
            brought.samples += chunk.samples.len() as u64;
            if !chunk.is_empty() {
                put_day(&transaction, series, chunk, samples_from_ms)?;
            }
        }
        transaction.commit()?;
        self.book.written();
        Ok(brought)
    }
}

/// Days before the oldest one with single samples have only histograms, for all series; readers
/// rely on that.
fn oldest_day_of_samples(db: &Connection) -> Result<u64, Fault> {
    let (chunk, windows) = (Table::Chunk.oldest_ms(db)?, Table::TenMinutes.oldest_ms(db)?);
    let day = |ms: u64| ms / DAY_MS * DAY_MS;
    Ok(match (chunk, windows) {
        (Some(chunk), Some(windows)) if day(windows) < day(chunk) => day(chunk),
        _ => 0,
    })
}

/// The ten-minute slots of a day that have data in any detail.
fn known_slots(db: &Connection, tail: &Tail, series: u32, day_ms: u64) -> Result<BTreeSet<u64>, Fault> {
    let mut known = BTreeSet::new();
    let mut take = |windows: Option<Windows>| {
        let starts =
            windows.iter().flat_map(|w| w.iter().map(|(start_ms, _)| start_ms / SLOT_MS).collect::<Vec<_>>());
        known.extend(starts);
    };
    take(Table::TenMinutes.windows(db, Table::TenMinutes.id(day_ms, series))?);
    for at_ms in (day_ms..day_ms + DAY_MS).step_by(CHUNK_MS as usize) {
        take(Table::Recent.windows(db, Table::Recent.id(at_ms, series))?);
    }
    let open = tail.chunk(series).into_iter().flat_map(|chunk| &chunk.samples);
    known.extend(open.map(|sample| sample.at_ms / SLOT_MS));
    let parts = (Table::Part.oldest_ms(db)?, Table::Part.newest_ms(db)?);
    let (Some(first), Some(last)) = parts else { return Ok(known) };
    for at_ms in (first.max(day_ms)..(last + 1).min(day_ms + DAY_MS)).step_by(SLOT_MS as usize) {
        if Table::Part.chunk(db, Table::Part.id(at_ms, series))?.is_some() {
            known.insert(at_ms / SLOT_MS);
        }
    }
    Ok(known)
}

fn put_day(db: &Connection, series: u32, mut day: Chunk, samples_from_ms: u64) -> Result<(), Fault> {
    day.sort();
    for step_ms in [SLOT_MS, HOUR_MS, DAY_MS] {
        let mut windows = Windows::new(step_ms);
        windows.add_chunk(&day);
        let table = match step_ms {
            SLOT_MS => Table::TenMinutes,
            HOUR_MS => Table::Hours,
            _ => Table::Days,
        };
        let at_ms = day.samples.first().map_or(0, |sample| sample.at_ms);
        table.add_windows(db, table.id(at_ms, series), &windows)?;
    }
    let mut chunks: BTreeMap<u64, Chunk> = BTreeMap::new();
    for sample in day.samples.into_iter().filter(|sample| sample.at_ms >= samples_from_ms) {
        chunks.entry(sample.at_ms / CHUNK_MS).or_default().samples.push(sample);
    }
    for (place, mut chunk) in chunks {
        let id = Table::Chunk.id(place * CHUNK_MS, series);
        if let Some(mut earlier) = Table::Chunk.chunk(db, id)? {
            chunk.append(&mut earlier);
            chunk.sort();
        }
        Table::Chunk.put_chunk(db, id, &chunk)?;
    }
    Ok(())
}
