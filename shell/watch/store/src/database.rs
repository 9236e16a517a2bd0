//! The database: one file, its settings and its tables.
use fathom_units::Bytes;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// Name of the database in the directory of a history.
pub(crate) const FILE: &str = "history.db";

/// "Fthm": tells the file from other databases (SQLite's `application_id`).
const APPLICATION: i64 = 0x4674_686d;

/// Version of the tables. A later one reads the earlier ones.
pub(crate) const VERSION: i64 = 1;

/// Bytes of a page. A flush changes one page of the journal or a few, each of which is written
/// whole; see the figures in ADR 8.
const PAGE_BYTES: u64 = 4096;

/// Pages in the log of changes before they are put into the database. The journal's pages are used
/// again every ten minutes: the more of that time the log has, the fewer of them are written twice.
/// 1,000 are 4 MB.
const MAX_LOG_PAGES: u64 = 1000;
/// Fewer make SQLite copy all the time.
const MIN_LOG_PAGES: u64 = 50;
/// The share of a budget that the log may be.
const LOG_SHARE: u64 = 16;

/// How long a reader or the writer waits for the other: they hold each other up at the start and
/// the end of the log alone.
const WAIT: Duration = Duration::from_secs(5);

/// Statements that are kept prepared: more than there are, or each would be made anew each time.
const STATEMENTS: usize = 100;

const TABLES: &str = "
CREATE TABLE series(id INTEGER PRIMARY KEY, target TEXT, probe TEXT, unit TEXT, checksum INTEGER);
CREATE TABLE journal(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE part(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE chunk(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE recent(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE ten_minutes(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE hours(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE days(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE event(id INTEGER PRIMARY KEY, at_ns INTEGER, until_ns INTEGER, series INTEGER, kind TEXT, text TEXT, value REAL);
CREATE INDEX event_at ON event(at_ns);
";

/// What opening found.
pub(crate) enum Opened {
    /// A database of ours, or a new one.
    Ours(Connection),
    /// One of a later version.
    Newer,
    /// Not one of ours.
    Foreign,
}

/// Opens the database for writing, makes it if there is none.
pub(crate) fn open(path: &Path, budget: Option<Bytes>) -> rusqlite::Result<Opened> {
    let db = Connection::open(path)?;
    db.busy_timeout(WAIT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    let (application, version) = (number(&db, "application_id")?, number(&db, "user_version")?);
    match (application, version) {
        (0, 0) if number(&db, "schema_version")? == 0 => create(&db)?,
        (APPLICATION, version) if version > VERSION => return Ok(Opened::Newer),
        (APPLICATION, _) => {}
        _ => return Ok(Opened::Foreign),
    }
    // FULL: each transaction outlives a power cut. Readers are not held up by it.
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    // A watch may have given up writing anywhere but beside its history.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    let pages = budget.map_or(MAX_LOG_PAGES, |b| b.get() / LOG_SHARE / PAGE_BYTES);
    let pages = pages.clamp(MIN_LOG_PAGES, MAX_LOG_PAGES);
    db.pragma_update(None, "wal_autocheckpoint", pages as i64)?;
    // A large transaction makes the log longer than that; afterwards it is cut.
    db.pragma_update(None, "journal_size_limit", (pages * PAGE_BYTES) as i64)?;
    Ok(Opened::Ours(db))
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    // Pages that were freed can be given back without a copy of all.
    db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    let version = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
    db.execute_batch(&format!("BEGIN; {TABLES} {version} COMMIT;"))
}

/// Opens the database for reading.
pub(crate) fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.busy_timeout(WAIT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(db)
}

/// A setting that is one number.
pub(crate) fn number(db: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Bytes that are in use, without the pages that were freed.
pub(crate) fn used_bytes(db: &Connection) -> rusqlite::Result<u64> {
    let pages = number(db, "page_count")?.saturating_sub(number(db, "freelist_count")?);
    Ok(pages.max(0) as u64 * PAGE_BYTES)
}

/// What an error of SQLite asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// No room.
    Full,
    /// The file is damaged.
    Corrupt,
    /// Anything else: to be tried again.
    Other,
}

pub(crate) fn kind(error: &rusqlite::Error) -> Kind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Kind::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Kind::Corrupt,
        // A value of another type than was written, a table that is gone.
        None | Some(ErrorCode::TypeMismatch) => Kind::Corrupt,
        Some(_) => Kind::Other,
    }
}
