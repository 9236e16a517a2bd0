//! The database file, its settings and its tables.
use fathom_units::Bytes;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// File name of the database in the directory of a history.
pub(crate) const FILE: &str = "history.db";

/// "Fthm": SQLite's `application_id`, which identifies the file.
const APPLICATION: i64 = 0x4674_686d;

/// Schema version. A change of the schema, or of what its rows mean, needs a later one, which reads
/// earlier ones: see ADR 8.
pub(crate) const VERSION: i64 = 1;

/// Page size in bytes. A flush changes one or a few pages of the journal and writes each
/// completely; see the figures in ADR 8.
const PAGE_BYTES: u64 = 4096;

/// Pages in the write-ahead log before a checkpoint. The journal's pages are reused every ten
/// minutes: the longer the log, the fewer of them are written twice. 1,000 pages are 4 MB.
const MAX_LOG_PAGES: u64 = 1000;
/// With fewer pages, SQLite would checkpoint all the time.
const MIN_LOG_PAGES: u64 = 50;
/// Maximum share of the log in a budget, as 1/n.
const LOG_SHARE: u64 = 16;

/// Busy timeout: reader and writer block each other only at the start and the end of the log.
const WAIT: Duration = Duration::from_secs(5);

/// Cache size for prepared statements: more than there are, so that none is prepared twice.
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

/// Result of opening a database.
pub(crate) enum Opened {
    /// Our database, or a new one.
    Ours(Connection),
    /// A database of this later version.
    Newer(i64),
    /// A database of another program.
    Foreign,
}

/// Opens the database for writing; creates it if there is none.
pub(crate) fn open(path: &Path, budget: Option<Bytes>) -> rusqlite::Result<Opened> {
    let db = Connection::open(path)?;
    db.busy_timeout(WAIT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    if let Some(version) = later_version(&db)? {
        return Ok(Opened::Newer(version));
    }
    let (application, version) = (number(&db, "application_id")?, number(&db, "user_version")?);
    match (application, version) {
        (0, 0) if number(&db, "schema_version")? == 0 => create(&db)?,
        (APPLICATION, _) => {}
        _ if has_own_tables(&db)? => {
            // The header is damaged.
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(code, None));
        }
        _ => return Ok(Opened::Foreign),
    }
    // FULL: each transaction survives a power failure. Readers do not block it.
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    // Landlock may forbid writing anywhere except next to the history.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    let pages = budget.map_or(MAX_LOG_PAGES, |b| b.get() / LOG_SHARE / PAGE_BYTES);
    let pages = pages.clamp(MIN_LOG_PAGES, MAX_LOG_PAGES);
    db.pragma_update(None, "wal_autocheckpoint", pages as i64)?;
    // A large transaction makes the log longer than that; afterwards it is truncated.
    db.pragma_update(None, "journal_size_limit", (pages * PAGE_BYTES) as i64)?;
    Ok(Opened::Ours(db))
}

fn has_own_tables(db: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('series', 'journal', 'chunk')";
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|tables| tables == 3)
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    // Allows freed pages to be returned without copying the file.
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

/// Its version, if it is ours and a later one.
pub(crate) fn later_version(db: &Connection) -> rusqlite::Result<Option<i64>> {
    let (application, version) = (number(db, "application_id")?, number(db, "user_version")?);
    Ok((application == APPLICATION && version > VERSION).then_some(version))
}

/// The value of a numeric pragma.
pub(crate) fn number(db: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Number of the last journal frame; 0 if there is none.
pub(crate) fn last_frame(db: &Connection) -> rusqlite::Result<i64> {
    let last: Option<i64> =
        db.prepare_cached("SELECT max(id) FROM journal")?.query_row([], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

/// Bytes in use, without freed pages.
pub(crate) fn used_bytes(db: &Connection) -> rusqlite::Result<u64> {
    let pages = number(db, "page_count")?.saturating_sub(number(db, "freelist_count")?);
    Ok(pages.max(0) as u64 * PAGE_BYTES)
}

/// Classification of an SQLite error by the necessary reaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The disk is full.
    Full,
    /// The file is damaged.
    Corrupt,
    /// Another error: try again.
    Other,
}

pub(crate) fn kind(error: &rusqlite::Error) -> Kind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Kind::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Kind::Corrupt,
        // A value of the wrong type, or a missing table.
        None | Some(ErrorCode::TypeMismatch) => Kind::Corrupt,
        Some(_) => Kind::Other,
    }
}
