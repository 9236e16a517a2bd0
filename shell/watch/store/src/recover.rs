//! Moves damaged items aside so that the rest remains usable.
use crate::error::Fault;
use crate::flush::replace_journal;
use crate::table::Table;
use crate::tail::Tail;
use crate::writer::NANOS_PER_MILLI;
use crate::written::Written;
use crate::{Event, History, HistoryError, Repair, database};
use fathom_units::WallTime;
use rusqlite::{Connection, OptionalExtension};
use std::fs;
use std::path::{Path, PathBuf};

impl History {
    /// Removes a damaged row from its table and saves it as a file.
    pub(crate) fn set_row_aside(&mut self, table: &str, id: i64, why: &str) -> Result<Repair, Fault> {
        set_row_aside(&self.db, &self.dir, table, id, why)
    }
    /// Reports records that were written but are not in the database: SQLite drops the end of a
    /// damaged log without an error.
    pub(crate) fn report_lost_end(&mut self, last_frame: i64, log: LogCopy, repairs: &mut Vec<Repair>) {
        let Some(written) = Written::read(&self.dir) else { return log.remove() };
        if written.frame <= last_frame {
            // The last frame may have been moved aside since.
            let frame = database::last_frame(&self.db).unwrap_or(0);
            let _ = Written { frame, ..written }.save(&self.dir);
            return log.remove();
        }
        let from = newest(&self.db, &self.tail).unwrap_or(written.at);
        let what = lost_end(from, written.at);
        self.event(&Event {
            at: from.min(written.at),
            until: Some(written.at),
            series: None,
            kind: "lost".into(),
            text: what.clone(),
            value: None,
        });
        repairs.push(Repair { what, kept: log.keep() });
    }
    /// Reads everything and moves damaged items aside. Use it if a disk may be faulty. Takes about
    /// a second per series and year.
    pub fn repair(&mut self) -> Vec<Repair> {
        let mut repairs = Vec::new();
        let sound = self.db.pragma_query_value(None, "quick_check", |row| row.get::<_, String>(0));
        let damage = match sound {
            Ok(word) if word == "ok" => None,
            Ok(word) => Some(rusqlite::Error::InvalidColumnName(word)),
            Err(error) => Some(error),
        };
        if let Some(error) = damage {
            repairs.extend(self.begin_again(&error));
        }
        for table in Table::ALL {
            for id in table.ids(&self.db).unwrap_or_default() {
                if let Err(Fault::Blob { why, .. }) = table.check(&self.db, id) {
                    repairs.extend(self.set_row_aside(table.name(), id, &why));
                }
            }
        }
        repairs
    }
    /// Moves the database aside and starts a new one with the data in memory.
    pub(crate) fn begin_again(&mut self, why: &rusqlite::Error) -> Result<Repair, HistoryError> {
        let path = self.path();
        let failed = |source| HistoryError::Database { path: path.clone(), source };
        // The damaged database must be closed before its files are renamed.
        self.db = Connection::open_in_memory().map_err(failed)?;
        let repair = set_aside(&path, &why.to_string());
        self.db = match database::open(&path, self.config.budget).map_err(failed)? {
            database::Opened::Ours(db) => db,
            _ => return Err(failed(rusqlite::Error::InvalidQuery)),
        };
        self.book.write_all_again();
        self.chunks.clear();
        self.days.clear();
        let whole = self.tail.whole();
        if let Err(Fault::Sql(source)) = replace_journal(&self.db, &whole) {
            return Err(failed(source));
        }
        self.tail.saved();
        Ok(repair)
    }
}

/// Time of the newest record, or the end of the last complete ten minutes.
pub(crate) fn newest(db: &Connection, tail: &Tail) -> Option<WallTime> {
    let ended = |table: Table| Some(table.newest_ms(db).ok()?? + table.span_ms());
    let part = ended(Table::Part).or_else(|| ended(Table::Chunk));
    let ms = tail.newest_ms().into_iter().chain(part).max()?;
    Some(WallTime(ms.saturating_mul(NANOS_PER_MILLI)))
}

pub(crate) fn set_row_aside(
    db: &Connection,
    dir: &Path,
    table: &str,
    id: i64,
    why: &str,
) -> Result<Repair, Fault> {
    let bytes = db
        .query_row(&format!("SELECT CAST(packed AS BLOB) FROM {table} WHERE id = ?"), [id], |row| {
            row.get::<_, Option<Vec<u8>>>(0)
        })
        .optional()?
        .flatten();
    let path = free_name(&dir.join(format!("{table}-{id}")), "corrupt");
    let kept = bytes.and_then(|bytes| fs::write(&path, bytes).ok()).map(|()| path);
    db.execute(&format!("DELETE FROM {table} WHERE id = ?"), [id])?;
    Ok(Repair { what: format!("row {id} of {table} {why} and was removed",), kept })
}

/// Moves a database and its log aside.
pub(crate) fn set_aside(path: &Path, why: &str) -> Repair {
    let name = renamed(path, "corrupt");
    let kept = name.exists().then_some(name);
    path.parent().into_iter().for_each(Written::forget);
    let what = format!(
        "{} is damaged ({why}); started a new one. `fathom watch repair` saves what can be read",
        path.display()
    );
    Repair { what, kept }
}

/// Describes records that were lost.
pub(crate) fn lost_end(from: WallTime, to: WallTime) -> String {
    format!("the records from {} to {to} are lost: the end of the write-ahead log is damaged", from.min(to))
}

/// Longest log that is copied before it is opened, in bytes. A log has 4 MB, or more after a large
/// import.
const MAX_LOG_BYTES: u64 = 64 << 20;

/// A copy of the write-ahead log: opening a database removes a damaged one.
pub(crate) struct LogCopy {
    log: PathBuf,
    copy: Option<PathBuf>,
}

impl LogCopy {
    pub(crate) fn of(database: &Path) -> LogCopy {
        let log = PathBuf::from(format!("{}-wal", database.display()));
        let copy = log.with_extension("db-wal.copy");
        let is_usual = fs::metadata(&log).is_ok_and(|log| (1..=MAX_LOG_BYTES).contains(&log.len()));
        let is_copied = is_usual && fs::copy(&log, &copy).is_ok();
        if is_usual && !is_copied {
            // The disk may be full.
            let _ = fs::remove_file(&copy);
        }
        LogCopy { log, copy: is_copied.then_some(copy) }
    }
    fn remove(self) {
        self.copy.iter().for_each(|copy| drop(fs::remove_file(copy)));
    }
    /// Gives the copy a lasting name.
    fn keep(self) -> Option<PathBuf> {
        let name = free_name(&self.log, "corrupt");
        fs::rename(self.copy?, &name).ok().map(|()| name)
    }
}

/// Renames a database to `history.db.WORD-N` with its log, so that SQLite still finds the log.
/// Returns the new name.
pub(crate) fn renamed(path: &Path, word: &str) -> PathBuf {
    let plain = path.with_file_name(database::FILE);
    let name = free_name(&plain, word);
    let with_ending = |file: &Path, end: &str| PathBuf::from(format!("{}{end}", file.display()));
    let _ = fs::rename(path, &name);
    let _ = fs::rename(with_ending(path, "-wal"), with_ending(&name, "-wal"));
    // SQLite recreates this file from the log.
    let _ = fs::remove_file(with_ending(path, "-shm"));
    name
}

/// The first unused name of `path.WORD-1`, `path.WORD-2`, ...
fn free_name(path: &Path, word: &str) -> PathBuf {
    let name = |n: u32| PathBuf::from(format!("{}.{word}-{n}", path.display()));
    (1..).map(name).find(|p| !p.exists()).unwrap_or_else(|| name(0))
}
