//! Writes from memory to disk.
use crate::error::Fault;
use crate::table::{SLOT_MS, Table, pack};
use crate::writer::{NANOS_PER_MILLI, Trouble};
use crate::written::Written;
use crate::{Event, History, Repair, database};
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Frame};
use rusqlite::{Connection, params};

/// Maximum retries of a flush after repairs: damaged values are moved aside one by one.
const TRIES: usize = 20;

impl History {
    /// Makes records durable if it is time to. Call it about once a second. It may take some
    /// hundred milliseconds with thousands of series when a ten-minute slot ends.
    ///
    /// Returns the repairs; [`History::status`] says why nothing could be written, if so.
    pub fn flush(&mut self, now: WallTime) -> Vec<Repair> {
        // A clock step in either direction makes a flush due.
        let due =
            self.last_flush.is_none_or(|last| now.0.abs_diff(last.0) >= self.config.durable_every.as_nanos());
        if due { self.save(now) } else { Vec::new() }
    }
    /// Makes records durable immediately.
    pub fn save(&mut self, now: WallTime) -> Vec<Repair> {
        let mut repairs = Vec::new();
        let mut result = self.save_all(now);
        for _ in 0..TRIES {
            match result {
                Err(fault) => match self.mend(fault, now, &mut repairs) {
                    Ok(()) => result = self.save_all(now),
                    Err(fault) => {
                        self.in_trouble(&fault, now);
                        break;
                    }
                },
                Ok(()) => {
                    self.end_trouble(now);
                    self.room_made = None;
                    self.tidy(now, &mut repairs);
                    break;
                }
            }
        }
        self.last_flush = Some(now);
        self.status.dropped_samples += self.tail.trim(self.config.unsaved_samples) as u64;
        self.status.unsaved_samples = self.tail.unsaved_samples() as u64;
        self.status.used = self.used();
        repairs
    }
    /// Saves everything, and empties the write-ahead log into the database. Use it at the end: one
    /// file then has everything.
    pub fn close(&mut self, now: WallTime) -> Vec<Repair> {
        let repairs = self.save(now);
        if self.status.trouble.is_none()
            && let Err(error) = self.checkpoint(true)
        {
            self.in_trouble(&Fault::Sql(error), now);
        }
        repairs
    }
    /// A single transaction: either everything is on disk afterwards, or nothing changed.
    fn save_all(&mut self, now: WallTime) -> Result<(), Fault> {
        let now_ms = now.0 / NANOS_PER_MILLI;
        let over = self.tail.over(now_ms);
        let transaction = self.db.unchecked_transaction()?;
        self.book.write(&transaction)?;
        self.events.write(&transaction)?;
        let unmatched = crate::amend::sealed(&transaction, &self.late)?;
        let mut chunks = Vec::new();
        if over.is_empty() {
            append(&transaction, &self.tail.unsaved())?;
        } else {
            let (parts, rest) = self.tail.split(&over);
            for ((slot, series), part) in parts {
                let at_ms = slot * SLOT_MS;
                add_part(&transaction, Table::Part.id(at_ms, series), part)?;
                chunks.push((at_ms / Table::Chunk.span_ms(), series));
            }
            replace_journal(&transaction, &rest)?;
        }
        let frame = database::last_frame(&transaction)?;
        transaction.commit()?;
        // Without this file a damaged end of the log is not noticed. Nothing else depends on it.
        let _ = Written { frame, at: now }.save(&self.dir);
        self.book.written();
        self.events.written();
        self.late.clear();
        self.status.unmatched += unmatched;
        self.chunks.extend(chunks);
        if over.is_empty() {
            self.tail.saved()
        } else {
            self.tail.sealed(&over)
        }
        Ok(())
    }
    /// Removes the cause of a failed flush, or returns the fault.
    fn mend(&mut self, fault: Fault, now: WallTime, repairs: &mut Vec<Repair>) -> Result<(), Fault> {
        match fault {
            Fault::Blob { table, id, why } => {
                let repair = self.set_row_aside(table, id, &why)?;
                repairs.push(repair);
                Ok(())
            }
            Fault::Sql(error) => match database::kind(&error) {
                database::Kind::Full if self.make_room(now) => Ok(()),
                database::Kind::Corrupt => match self.begin_again(&error) {
                    Ok(repair) => {
                        repairs.push(repair);
                        Ok(())
                    }
                    Err(_) => Err(Fault::Sql(error)),
                },
                _ => Err(Fault::Sql(error)),
            },
        }
    }
    /// Records the end of a period in which nothing could be written.
    fn end_trouble(&mut self, now: WallTime) {
        let Some(trouble) = self.status.trouble.take() else { return };
        let dropped = self.status.dropped_samples - self.status.dropped_before;
        self.status.dropped_before = self.status.dropped_samples;
        let lost = match dropped {
            0 => "no sample was lost".to_owned(),
            lost => format!("{lost} samples were lost"),
        };
        let kind = "unwritten".to_owned();
        let text = format!("the history could not be written; {lost}");
        let at = trouble.since;
        self.event(&Event { at, until: Some(now), series: None, kind, text, value: None });
    }
    fn in_trouble(&mut self, fault: &Fault, now: WallTime) {
        let since = self.status.trouble.as_ref().map_or(now, |t| t.since);
        let text = format!(
            "cannot write {}: {fault}. Up to {} samples are kept in memory: free disk space or repair the disk",
            self.path().display(),
            self.config.unsaved_samples
        );
        self.status.trouble = Some(Trouble { since, text });
    }
    /// Compacts and drops old data. A failure is reported if the next flush fails too.
    fn tidy(&mut self, now: WallTime, repairs: &mut Vec<Repair>) {
        for _ in 0..TRIES {
            match self.put_together(now).and_then(|()| self.drop_old(now)) {
                Err(fault) => {
                    if self.mend(fault, now, repairs).is_err() {
                        return;
                    }
                }
                Ok(()) => return,
            }
        }
    }
}

/// Appends a frame to the journal, unless it is empty.
fn append(db: &Connection, frame: &Frame) -> Result<(), Fault> {
    if !frame.entries.is_empty() {
        insert(db, frame)?;
    }
    Ok(())
}

/// Replaces the journal. The last frame is written even if it is empty, so that frame numbers only
/// increase; readers rely on that to know what they have.
pub(crate) fn replace_journal(db: &Connection, rest: &Frame) -> Result<(), Fault> {
    let last = insert(db, rest)?;
    db.prepare_cached("DELETE FROM journal WHERE id < ?")?.execute([last])?;
    Ok(())
}

fn insert(db: &Connection, frame: &Frame) -> Result<i64, Fault> {
    let packed = pack(&frame.encode());
    db.prepare_cached("INSERT INTO journal(packed) VALUES (?)")?.execute(params![packed])?;
    Ok(db.last_insert_rowid())
}

/// Adds to a part, which already has data if the clock was stepped back.
fn add_part(db: &Connection, id: i64, mut part: Chunk) -> Result<(), Fault> {
    if let Some(mut earlier) = Table::Part.chunk(db, id)? {
        part.append(&mut earlier);
    }
    part.sort();
    Table::Part.put_chunk(db, id, &part)
}
