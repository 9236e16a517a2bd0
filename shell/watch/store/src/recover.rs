//! Moves damaged items aside so that the rest remains usable.
use crate::error::Fault;
use crate::flush::replace_journal;
use crate::table::Table;
use crate::{History, HistoryError, Repair, database};
use rusqlite::{Connection, OptionalExtension};
use std::fs;
use std::path::{Path, PathBuf};

impl History {
    /// Removes a damaged row from its table and saves it as a file.
    pub(crate) fn set_row_aside(&mut self, table: &str, id: i64, why: &str) -> Result<Repair, Fault> {
        set_row_aside(&self.db, &self.dir, table, id, why)
    }
    /// Reads everything and moves damaged items aside. Use it if a disk may be faulty. Takes about
    /// a second per series and year.
    pub fn verify(&mut self) -> Vec<Repair> {
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
    let path = free_name(&dir.join(format!("{table}-{id}")));
    let kept = bytes.and_then(|bytes| fs::write(&path, bytes).ok()).map(|()| path);
    db.execute(&format!("DELETE FROM {table} WHERE id = ?"), [id])?;
    Ok(Repair { what: format!("row {id} of {table} {why} and was removed",), kept })
}

/// Renames a database and its log, so that SQLite still finds the log.
pub(crate) fn set_aside(path: &Path, why: &str) -> Repair {
    let name = free_name(path);
    let kept = fs::rename(path, &name).is_ok().then_some(name.clone());
    let with_ending = |file: &Path, end: &str| PathBuf::from(format!("{}{end}", file.display()));
    let _ = fs::rename(with_ending(path, "-wal"), with_ending(&name, "-wal"));
    // SQLite recreates this file from the log.
    let _ = fs::remove_file(with_ending(path, "-shm"));
    Repair { what: format!("{} is damaged ({why}); started a new one", path.display()), kept }
}

/// The first unused name of `path.corrupt-1`, `path.corrupt-2`, ...
fn free_name(path: &Path) -> PathBuf {
    let name = |n: u32| PathBuf::from(format!("{}.corrupt-{n}", path.display()));
    (1..).map(name).find(|p| !p.exists()).unwrap_or_else(|| name(0))
}
