//! Opens a history for writing.
use crate::database::{self, FILE, Kind, Opened, VERSION};
use crate::error::Fault;
use crate::event::Events;
use crate::recover::{LogCopy, set_aside, set_row_aside};
use crate::series::Book;
use crate::table::{CHUNK_MS, DAY_MS, Table};
use crate::tail::Tail;
use crate::writer::Status;
use crate::{History, HistoryConfig, HistoryError, Repair};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Locked by the writer while it lives. The system releases the lock when the process ends for any
/// reason.
const LOCK: &str = "writer.lock";
/// File with the ID of the process that holds the lock, for people.
const PROCESS: &str = "writer.pid";

impl History {
    /// Opens the history in a directory, creating it if necessary.
    ///
    /// Damaged items are moved aside and reported; the journal is replayed.
    ///
    /// # Errors
    /// If another process writes it, if it is of a later version, or if the directory cannot be
    /// written.
    pub fn open(dir: &Path, config: &HistoryConfig) -> Result<(History, Vec<Repair>), HistoryError> {
        fs::create_dir_all(dir).map_err(|source| HistoryError::System { path: dir.into(), source })?;
        let lock = lock(dir)?;
        let mut repairs = Vec::new();
        let path = dir.join(FILE);
        let failed = |source| HistoryError::Database { path: path.clone(), source };
        let log = LogCopy::of(&path);
        let opened = match open_and_read(dir, config, &mut repairs) {
            Err(error) if is_damage(&error) => {
                repairs.push(set_aside(&path, &error.to_string()));
                open_and_read(dir, config, &mut repairs)
            }
            other => other,
        };
        let (db, state) = match opened.map_err(failed)? {
            State::Ours(db, state) => (db, state),
            State::Newer(version) => return Err(HistoryError::Newer { path, version, known: VERSION }),
            State::Foreign => return Err(HistoryError::Foreign { path }),
        };
        let mut history = History {
            dir: dir.into(),
            config: config.clone(),
            _lock: lock,
            db,
            book: state.book,
            tail: state.tail,
            events: state.events,
            late: Vec::new(),
            chunks: state.chunks,
            days: state.days,
            last_flush: None,
            last_tidy: None,
            room_made: None,
            status: Status::default(),
        };
        history.report_lost_end(state.last_frame, log, &mut repairs);
        history.hold_reserve();
        history.status.used = history.used();
        Ok((history, repairs))
    }
}

/// The outcome of opening a database.
enum State {
    Ours(Connection, Box<Content>),
    Newer(i64),
    Foreign,
}

/// What is read from a database.
struct Content {
    book: Book,
    tail: Tail,
    events: Events,
    chunks: BTreeSet<(u64, u32)>,
    days: BTreeSet<(u64, u32)>,
    /// Number of the last journal frame.
    last_frame: i64,
}

fn open_and_read(dir: &Path, config: &HistoryConfig, repairs: &mut Vec<Repair>) -> rusqlite::Result<State> {
    let path = &dir.join(FILE);
    let db = match database::open(path, config.budget)? {
        Opened::Ours(db) => db,
        Opened::Newer(version) => return Ok(State::Newer(version)),
        Opened::Foreign => return Ok(State::Foreign),
    };
    let last_frame = database::last_frame(&db)?;
    let (mut book, damaged) = Book::read(&db)?;
    for number in damaged {
        book.rename_damaged(number);
        let what = format!("the name of series {number} is damaged; it is now called damaged-{number}");
        repairs.push(Repair { what, kept: None });
    }
    let tail = read_journal(&db, dir, repairs)?;
    let starts = |table: Table, span: u64| -> rusqlite::Result<BTreeSet<(u64, u32)>> {
        let ids = table.ids(&db)?;
        Ok(ids.into_iter().map(|id| (table.start_ms(id) / span, Table::series(id))).collect())
    };
    let (chunks, days) = (starts(Table::Part, CHUNK_MS)?, starts(Table::Recent, DAY_MS)?);
    let events = Events::read(&db)?;
    let content = Content { book, tail, events, chunks, days, last_frame };
    Ok(State::Ours(db, Box::new(content)))
}

fn read_journal(db: &Connection, dir: &Path, repairs: &mut Vec<Repair>) -> rusqlite::Result<Tail> {
    let mut tail = Tail::default();
    for (id, frame) in crate::reader::journal(db, i64::MIN)? {
        match frame {
            Ok(frame) => tail.replay(frame),
            Err(why) => match set_row_aside(db, dir, "journal", id, &why) {
                Ok(repair) => repairs.push(repair),
                Err(Fault::Sql(error)) => return Err(error),
                Err(Fault::Blob { .. }) => {}
            },
        }
    }
    Ok(tail)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    database::kind(error) == Kind::Corrupt
}

/// Takes the lock: an SQLite lock on a separate empty database, which works on every system that
/// SQLite supports.
fn lock(dir: &Path) -> Result<Connection, HistoryError> {
    let path = dir.join(LOCK);
    let take = || -> rusqlite::Result<Connection> {
        let lock = Connection::open(&path)?;
        lock.busy_timeout(Duration::ZERO)?;
        lock.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(lock)
    };
    let taken = match take() {
        Err(error) if is_damage(&error) => {
            // The file is empty, so it can be removed.
            let _ = fs::remove_file(&path);
            take()
        }
        other => other,
    };
    match taken {
        Ok(lock) => {
            let _ = fs::write(dir.join(PROCESS), std::process::id().to_string());
            Ok(lock)
        }
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            let process = fs::read_to_string(dir.join(PROCESS)).ok().and_then(|t| t.trim().parse().ok());
            Err(HistoryError::Locked { path: dir.into(), process })
        }
        Err(source) => Err(HistoryError::Database { path, source }),
    }
}
