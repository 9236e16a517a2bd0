//! The tables of packed values: each row is of one series and one stretch of time.
use crate::error::Fault;
use fathom_watch_samples::{Chunk, DecodeError, Windows};
use rusqlite::{Connection, OptionalExtension, params};
use std::cell::RefCell;
use std::io;
use zstd::bulk::{Compressor, Decompressor};

/// Bits of a row's number that are the series.
const SERIES_BITS: u32 = 24;

/// zstd's level: 9 takes eight times the time to save 7 % on a quiet fibre, and 0.5 % on DOCSIS and
/// Wi-Fi, which is entropy but for 3 %.
const PACK_LEVEL: i32 = 3;

/// First bytes of what zstd packed (RFC 8878 section 3.1.1).
const PACKED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The most bytes that a value unpacks to: a chunk of the most samples, each with a time of its
/// own.
const MAX_UNPACKED: usize = 32 << 20;

/// Milliseconds of ten minutes.
pub(crate) const SLOT_MS: u64 = 600_000;
/// Milliseconds of an hour.
pub(crate) const HOUR_MS: u64 = 3_600_000;
/// Milliseconds of a chunk: six hours. Of one hour it would have 2.3 kB at a sample a second, and
/// half of a page of 4 kB would be lost.
pub(crate) const CHUNK_MS: u64 = 6 * HOUR_MS;
/// Milliseconds of a day.
pub(crate) const DAY_MS: u64 = 86_400_000;

/// A table of packed values. Its rows are in the order of time, then of series: new rows are then
/// written side by side, and the oldest ones removed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// Samples of ten minutes, until their six hours are over.
    Part,
    /// Samples of six hours.
    Chunk,
    /// Windows of ten minutes of six hours, until their day is over.
    Recent,
    /// Windows of ten minutes of a day.
    TenMinutes,
    /// Windows of an hour of a day.
    Hours,
    /// The window of a day.
    Days,
}

impl Table {
    pub(crate) const ALL: [Table; 6] =
        [Table::Part, Table::Chunk, Table::Recent, Table::TenMinutes, Table::Hours, Table::Days];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Table::Part => "part",
            Table::Chunk => "chunk",
            Table::Recent => "recent",
            Table::TenMinutes => "ten_minutes",
            Table::Hours => "hours",
            Table::Days => "days",
        }
    }
    /// Milliseconds that a row covers.
    pub(crate) const fn span_ms(self) -> u64 {
        match self {
            Table::Part => SLOT_MS,
            Table::Chunk | Table::Recent => CHUNK_MS,
            Table::TenMinutes | Table::Hours | Table::Days => DAY_MS,
        }
    }
    /// The row of a series whose stretch has this time.
    pub(crate) const fn id(self, at_ms: u64, series: u32) -> i64 {
        ((at_ms / self.span_ms()) << SERIES_BITS) as i64 | series as i64
    }
    /// When the stretch of a row starts.
    pub(crate) const fn start_ms(self, id: i64) -> u64 {
        (id as u64 >> SERIES_BITS) * self.span_ms()
    }
    pub(crate) const fn series(id: i64) -> u32 {
        id as u32 & ((1 << SERIES_BITS) - 1)
    }

    pub(crate) fn chunk(self, db: &Connection, id: i64) -> Result<Option<Chunk>, Fault> {
        self.get(db, id, Chunk::decode)
    }
    pub(crate) fn windows(self, db: &Connection, id: i64) -> Result<Option<Windows>, Fault> {
        self.get(db, id, Windows::decode)
    }
    pub(crate) fn put_chunk(self, db: &Connection, id: i64, chunk: &Chunk) -> Result<(), Fault> {
        self.put(db, id, &chunk.encode())
    }
    pub(crate) fn put_windows(self, db: &Connection, id: i64, windows: &Windows) -> Result<(), Fault> {
        self.put(db, id, &windows.encode())
    }
    /// Whether a row can be read.
    pub(crate) fn check(self, db: &Connection, id: i64) -> Result<(), Fault> {
        match self {
            Table::Part | Table::Chunk => self.chunk(db, id).map(drop),
            Table::Recent | Table::TenMinutes | Table::Hours | Table::Days => self.windows(db, id).map(drop),
        }
    }
    /// Adds windows to those of a row.
    pub(crate) fn add_windows(self, db: &Connection, id: i64, windows: &Windows) -> Result<(), Fault> {
        match self.windows(db, id)? {
            Some(mut all) => {
                all.merge(windows);
                self.put_windows(db, id, &all)
            }
            None => self.put_windows(db, id, windows),
        }
    }
    pub(crate) fn delete(self, db: &Connection, id: i64) -> Result<(), Fault> {
        let sql = format!("DELETE FROM {} WHERE id = ?", self.name());
        db.prepare_cached(&sql)?.execute([id])?;
        Ok(())
    }
    /// Rows of all series that start before a time.
    pub(crate) fn delete_before(self, db: &Connection, at_ms: u64) -> Result<usize, Fault> {
        let sql = format!("DELETE FROM {} WHERE id < ?", self.name());
        Ok(db.prepare_cached(&sql)?.execute([self.id(at_ms, 0)])?)
    }
    /// When the oldest row starts.
    pub(crate) fn oldest_ms(self, db: &Connection) -> rusqlite::Result<Option<u64>> {
        self.end(db, "min")
    }
    /// When the newest row starts.
    pub(crate) fn newest_ms(self, db: &Connection) -> rusqlite::Result<Option<u64>> {
        self.end(db, "max")
    }
    /// The numbers of all rows.
    pub(crate) fn ids(self, db: &Connection) -> rusqlite::Result<Vec<i64>> {
        let sql = format!("SELECT id FROM {}", self.name());
        let mut statement = db.prepare(&sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    }
    fn end(self, db: &Connection, end: &str) -> rusqlite::Result<Option<u64>> {
        let sql = format!("SELECT {end}(id) FROM {}", self.name());
        let id: Option<i64> = db.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
        Ok(id.map(|id| self.start_ms(id)))
    }
    fn get<T>(
        self,
        db: &Connection,
        id: i64,
        decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, Fault> {
        let sql = format!("SELECT packed FROM {} WHERE id = ?", self.name());
        let mut statement = db.prepare_cached(&sql)?;
        let found = statement.query_row([id], |row| {
            // Damage may have changed the type too.
            Ok(row.get_ref(0)?.as_blob().map(unpack).unwrap_or_else(|e| Err(io::Error::other(e))))
        });
        let Some(bytes) = found.optional()? else { return Ok(None) };
        let bytes = bytes.map_err(|e| Fault::unpacked(self.name(), id, &e))?;
        decode(&bytes).map(Some).map_err(|e| Fault::decoded(self.name(), id, e))
    }
    fn put(self, db: &Connection, id: i64, bytes: &[u8]) -> Result<(), Fault> {
        let sql = format!("INSERT OR REPLACE INTO {} VALUES (?, ?)", self.name());
        db.prepare_cached(&sql)?.execute(params![id, pack(bytes)])?;
        Ok(())
    }
}

thread_local! {
    /// Making them takes longer than packing a part does.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let packed = PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            *packer = Compressor::new(PACK_LEVEL).ok();
        }
        packer.as_mut().and_then(|p| p.compress(bytes).ok())
    });
    // It fails for want of memory alone; what is not packed says so by its first bytes.
    packed.unwrap_or_else(|| bytes.to_vec())
}

pub(crate) fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    if !packed.starts_with(&PACKED) {
        return Ok(packed.to_vec());
    }
    let announced = Decompressor::upper_bound(packed).unwrap_or(MAX_UNPACKED);
    UNPACKER.with_borrow_mut(|unpacker| {
        let unpacker = match unpacker {
            Some(made) => made,
            None => unpacker.insert(Decompressor::new()?),
        };
        unpacker.decompress(packed, announced.min(MAX_UNPACKED))
    })
}
