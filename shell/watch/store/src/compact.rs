//! Compaction: parts become chunks, and windows of chunks become days.
use crate::History;
use crate::error::Fault;
use crate::table::{CHUNK_MS, DAY_MS, HOUR_MS, SLOT_MS, Table};
use crate::writer::NANOS_PER_MILLI;
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Windows};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Delay between the end of a chunk and its compaction, in milliseconds: by then its last part is
/// written and includes most late answers.
const GRACE_MS: u64 = 180_000;

/// Chunks and days compacted per flush, which blocks the writer for at most about 0.1 s.
const AT_ONCE: usize = 400;

impl History {
    /// Compacts a number of chunks and days that are over.
    pub(crate) fn put_together(&mut self, now: WallTime) -> Result<(), Fault> {
        let now_ms = now.0 / NANOS_PER_MILLI;
        let over = |start: u64, span: u64| {
            start * span + span + GRACE_MS <= now_ms || start * span > now_ms + GRACE_MS
        };
        let ripe = |set: &BTreeSet<(u64, u32)>, span: u64| -> Vec<(u64, u32)> {
            set.iter().copied().filter(|(start, _)| over(*start, span)).take(AT_ONCE).collect()
        };
        let chunks = ripe(&self.chunks, CHUNK_MS);
        // A chunk that is still in parts would be added to its day later, which is correct but
        // doubles the work.
        let chunks_of = |day: u64| day * DAY_MS / CHUNK_MS..(day + 1) * DAY_MS / CHUNK_MS;
        let complete = |(day, series): &(u64, u32)| {
            !chunks_of(*day).any(|chunk| self.chunks.contains(&(chunk, *series)))
        };
        let days: Vec<_> = ripe(&self.days, DAY_MS).into_iter().filter(complete).collect();
        if chunks.is_empty() && days.is_empty() {
            return Ok(());
        }
        let transaction = self.db.unchecked_transaction()?;
        for (chunk, series) in &chunks {
            one_chunk(&transaction, chunk * CHUNK_MS, *series)?;
        }
        for (day, series) in &days {
            one_day(&transaction, day * DAY_MS, *series)?;
        }
        transaction.commit()?;
        for (chunk, series) in chunks {
            self.chunks.remove(&(chunk, series));
            self.days.insert((chunk * CHUNK_MS / DAY_MS, series));
        }
        for day in &days {
            self.days.remove(day);
        }
        Ok(())
    }
}

/// Merges the parts of six hours into a chunk and its windows.
fn one_chunk(db: &Connection, start_ms: u64, series: u32) -> Result<(), Fault> {
    let mut new = Chunk::default();
    for at_ms in (start_ms..start_ms + CHUNK_MS).step_by(SLOT_MS as usize) {
        let id = Table::Part.id(at_ms, series);
        if let Some(mut part) = Table::Part.chunk(db, id)? {
            new.append(&mut part);
            Table::Part.delete(db, id)?;
        }
    }
    let mut windows = Windows::new(SLOT_MS);
    windows.add_chunk(&new);
    let id = Table::Chunk.id(start_ms, series);
    if let Some(mut earlier) = Table::Chunk.chunk(db, id)? {
        new.append(&mut earlier);
    }
    new.sort();
    Table::Chunk.put_chunk(db, id, &new)?;
    Table::Recent.add_windows(db, Table::Recent.id(start_ms, series), &windows)
}

/// Converts the ten-minute windows of a day to its rollups.
fn one_day(db: &Connection, start_ms: u64, series: u32) -> Result<(), Fault> {
    let mut all = Windows::new(SLOT_MS);
    for at_ms in (start_ms..start_ms + DAY_MS).step_by(CHUNK_MS as usize) {
        let id = Table::Recent.id(at_ms, series);
        if let Some(windows) = Table::Recent.windows(db, id)? {
            all.merge(&windows);
            Table::Recent.delete(db, id)?;
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    for (table, windows) in of_day(all) {
        table.add_windows(db, table.id(start_ms, series), &windows)?;
    }
    Ok(())
}

/// Ten-minute windows in daily rows, and the coarser windows derived from them.
fn of_day(ten_minutes: Windows) -> [(Table, Windows); 3] {
    let coarser = |step_ms| {
        let mut windows = Windows::new(step_ms);
        windows.merge(&ten_minutes);
        windows
    };
    let (hours, days) = (coarser(HOUR_MS), coarser(DAY_MS));
    [(Table::TenMinutes, ten_minutes), (Table::Hours, hours), (Table::Days, days)]
}
