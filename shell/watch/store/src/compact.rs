//! Parts become chunks, and what chunks come to becomes days.
use crate::History;
use crate::error::Fault;
use crate::table::{CHUNK_MS, DAY_MS, HOUR_MS, SLOT_MS, Table};
use crate::writer::NANOS_PER_MILLI;
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Windows};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// How long after its end a chunk is put together, in milliseconds: its last part is then written,
/// and most late answers are in it.
const GRACE_MS: u64 = 180_000;

/// Chunks and days that are put together at one flush: the writer is held up for about 0.1 s at
/// most.
const AT_ONCE: usize = 400;

impl History {
    /// Puts together chunks and days that are over, some at a time.
    pub(crate) fn put_together(&mut self, now: WallTime) -> Result<(), Fault> {
        let now_ms = now.0 / NANOS_PER_MILLI;
        let over = |start: u64, span: u64| {
            start * span + span + GRACE_MS <= now_ms || start * span > now_ms + GRACE_MS
        };
        let ripe = |set: &BTreeSet<(u64, u32)>, span: u64| -> Vec<(u64, u32)> {
            set.iter().copied().filter(|(start, _)| over(*start, span)).take(AT_ONCE).collect()
        };
        let chunks = ripe(&self.chunks, CHUNK_MS);
        // A chunk that is still in parts would come into its day later, which is right, but twice
        // the work.
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

/// The parts of six hours become their chunk, and are counted by its windows.
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

/// The windows of ten minutes of a day become its rollups.
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

/// Windows of ten minutes, in rows of a day, and the coarser ones made of them.
fn of_day(ten_minutes: Windows) -> [(Table, Windows); 3] {
    let coarser = |step_ms| {
        let mut windows = Windows::new(step_ms);
        windows.merge(&ten_minutes);
        windows
    };
    let (hours, days) = (coarser(HOUR_MS), coarser(DAY_MS));
    [(Table::TenMinutes, ten_minutes), (Table::Hours, hours), (Table::Days, days)]
}
