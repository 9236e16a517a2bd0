//! Tables of compressed values: each row holds one series over one period.
use crate::error::Fault;
use fathom_watch_samples::{Chunk, DecodeError, Windows};
use rusqlite::{Connection, OptionalExtension, params};
use std::cell::RefCell;
use std::io;
use zstd::bulk::{Compressor, Decompressor};

/// Bits of the series number in a row ID.
const SERIES_BITS: u32 = 24;

/// zstd level. Level 9 takes eight times the time to save 7 % on a quiet fiber link, and 0.5 % on
/// DOCSIS and Wi-Fi, where all but 3 % is entropy.
const PACK_LEVEL: i32 = 3;

/// Magic number of zstd (RFC 8878 section 3.1.1).
const PACKED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum decompressed size of a value: a chunk with the maximum number of samples at irregular
/// times.
const MAX_UNPACKED: usize = 32 << 20;

/// A ten-minute slot in milliseconds.
pub(crate) const SLOT_MS: u64 = 600_000;
/// An hour in milliseconds.
pub(crate) const HOUR_MS: u64 = 3_600_000;
/// A chunk in milliseconds: six hours. A chunk of one hour would have 2.3 kB at one sample per
/// second and waste half of a 4 kB page.
pub(crate) const CHUNK_MS: u64 = 6 * HOUR_MS;
/// A day in milliseconds.
pub(crate) const DAY_MS: u64 = 86_400_000;

/// A table of compressed values. Its rows are ordered by time, then by series, so that new rows are
/// written next to each other, and the oldest ones removed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// Samples of ten minutes, until their six hours are over.
    Part,
    /// Samples of six hours.
    Chunk,
    /// Ten-minute windows of six hours, until their day is over.
    Recent,
    /// Ten-minute windows of a day.
    TenMinutes,
    /// One-hour windows of a day.
    Hours,
    /// One-day windows.
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
    /// Period of a row in milliseconds.
    pub(crate) const fn span_ms(self) -> u64 {
        match self {
            Table::Part => SLOT_MS,
            Table::Chunk | Table::Recent => CHUNK_MS,
            Table::TenMinutes | Table::Hours | Table::Days => DAY_MS,
        }
    }
    /// ID of the row of a series that contains a time.
    pub(crate) const fn id(self, at_ms: u64, series: u32) -> i64 {
        ((at_ms / self.span_ms()) << SERIES_BITS) as i64 | series as i64
    }
    /// Start of the period of a row.
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
    /// Checks that a row can be read.
    pub(crate) fn check(self, db: &Connection, id: i64) -> Result<(), Fault> {
        match self {
            Table::Part | Table::Chunk => self.chunk(db, id).map(drop),
            Table::Recent | Table::TenMinutes | Table::Hours | Table::Days => self.windows(db, id).map(drop),
        }
    }
    /// Adds windows to a row.
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
    /// Deletes the rows of all series that start before a time.
    pub(crate) fn delete_before(self, db: &Connection, at_ms: u64) -> Result<usize, Fault> {
        let sql = format!("DELETE FROM {} WHERE id < ?", self.name());
        Ok(db.prepare_cached(&sql)?.execute([self.id(at_ms, 0)])?)
    }
    /// Start of the first row, of any series, that ends after a time.
    pub(crate) fn next_ms(self, db: &Connection, at_ms: u64) -> rusqlite::Result<Option<u64>> {
        let sql = format!("SELECT min(id) FROM {} WHERE id >= ?", self.name());
        let id: Option<i64> = db.prepare_cached(&sql)?.query_row([self.id(at_ms, 0)], |row| row.get(0))?;
        Ok(id.map(|id| self.start_ms(id)))
    }
    /// Start of the oldest row.
    pub(crate) fn oldest_ms(self, db: &Connection) -> rusqlite::Result<Option<u64>> {
        self.end(db, "min")
    }
    /// Start of the newest row.
    pub(crate) fn newest_ms(self, db: &Connection) -> rusqlite::Result<Option<u64>> {
        self.end(db, "max")
    }
    /// IDs of all rows.
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
            // Damage may also have changed the type.
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
    /// Reused, because creating one takes longer than compressing a part.
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
    // Fails only without memory; the first bytes show that the value is not compressed.
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
