//! Drops data that is too old or exceeds the budget.
use crate::error::Fault;
use crate::table::{DAY_MS, Table};
use crate::writer::NANOS_PER_MILLI;
use crate::{Event, History, database};
use fathom_units::{Bytes, Duration, WallTime};
use std::fs;
use std::path::PathBuf;

/// Interval of dropping old data. One day per kind of detail is dropped each time, so that a clock
/// stepped a century ahead for an hour costs six days, not everything.
const TIDY_EVERY: Duration = Duration::from_secs(600);

/// Reserved bytes, released when the disk is full, because dropping data needs some space too.
const RESERVE_BYTES: usize = 1 << 20;

/// Pages returned to the system at a time.
const GIVE_BACK_PAGES: u32 = 2000;

/// Maximum number of days dropped at a time for a budget.
const DAYS_AT_ONCE: usize = 1000;

/// Maximum attempts to make room in that interval without success. Otherwise whatever fills the
/// disk would erase the whole history.
const ROOM_TRIES: u32 = 3;

/// Details in the order in which they are dropped.
const BY_DETAIL: [Table; 4] = [Table::Chunk, Table::TenMinutes, Table::Hours, Table::Days];

impl History {
    /// Drops data beyond its retention, and the oldest detail above the budget.
    pub(crate) fn drop_old(&mut self, now: WallTime) -> Result<(), Fault> {
        if self.last_tidy.is_some_and(|last| now.0.abs_diff(last.0) < TIDY_EVERY.as_nanos()) {
            return Ok(());
        }
        self.last_tidy = Some(now);
        self.hold_reserve();
        // A damaged log then loses minutes, not the hours that a log of few series covers.
        self.checkpoint(false)?;
        let keep = self.config.keep;
        for (table, age) in BY_DETAIL.into_iter().zip([keep.samples, keep.ten_minutes, keep.hours, keep.days])
        {
            let Some(oldest_ms) = table.oldest_ms(&self.db)? else { continue };
            let cut_ms = age.map_or(0, |age| now.0.saturating_sub(age.as_nanos()) / NANOS_PER_MILLI);
            // Drop whole days, so that coarser detail starts where finer detail ends.
            let day_after = (oldest_ms / DAY_MS + 1) * DAY_MS;
            if day_after <= cut_ms {
                table.delete_before(&self.db, day_after)?;
            }
        }
        let Some(budget) = self.config.budget else { return Ok(()) };
        for _ in 0..DAYS_AT_ONCE {
            if self.used() <= budget || !self.drop_oldest_day()? {
                break;
            }
        }
        self.give_back(budget)
    }
    /// Bytes of the files that are in use.
    pub(crate) fn used(&self) -> Bytes {
        let log = fs::metadata(self.dir.join(format!("{}-wal", database::FILE))).map_or(0, |m| m.len());
        let reserve = fs::metadata(self.reserve()).map_or(0, |m| m.len());
        let database = database::used_bytes(&self.db).unwrap_or(0);
        Bytes(database + log + reserve)
    }
    /// Drops detail when the disk is full; false if there is nothing to drop.
    pub(crate) fn make_room(&mut self, now: WallTime) -> bool {
        let (since, times) = match self.room_made {
            Some((since, times)) if now.0.abs_diff(since.0) < TIDY_EVERY.as_nanos() => (since, times + 1),
            _ => (now, 1),
        };
        if times > ROOM_TRIES {
            return false;
        }
        self.room_made = Some((since, times));
        let reserve = fs::remove_file(self.reserve()).is_ok();
        // A checkpoint frees the log's space and reuses pages in the database. If it fails too, the
        // released reserve may be enough.
        let _ = self.checkpoint(true);
        match self.drop_oldest_day() {
            Ok(true) => {
                self.report_room_made(now);
                true
            }
            _ => reserve,
        }
    }
    /// Copies the write-ahead log to the database, as far as readers permit; with `is_last` waits
    /// for them for some seconds and empties the log.
    pub(crate) fn checkpoint(&self, is_last: bool) -> rusqlite::Result<()> {
        let mode = if is_last { "TRUNCATE" } else { "PASSIVE" };
        self.db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))
    }
    /// Drops the oldest day of the finest existing detail, never the newest day.
    fn drop_oldest_day(&mut self) -> Result<bool, Fault> {
        for table in BY_DETAIL {
            let (oldest, newest) = (table.oldest_ms(&self.db)?, table.newest_ms(&self.db)?);
            let (Some(oldest_ms), Some(newest_ms)) = (oldest, newest) else { continue };
            if oldest_ms / DAY_MS == newest_ms / DAY_MS {
                continue;
            }
            let day_after = (oldest_ms / DAY_MS + 1) * DAY_MS;
            table.delete_before(&self.db, day_after)?;
            if table == Table::Chunk {
                self.status.room_made_before = Some(WallTime(day_after * NANOS_PER_MILLI));
            }
            return Ok(true);
        }
        Ok(false)
    }
    fn report_room_made(&mut self, now: WallTime) {
        let until = self.status.room_made_before.map_or(String::new(), |t| format!(" from before {t}"));
        let text = format!("disk full: dropped the oldest detail{until} to continue recording");
        self.event(&Event {
            at: now,
            until: None,
            series: None,
            kind: "disk-full".into(),
            text,
            value: None,
        });
    }
    /// Shrinks the file. This moves pages, so it is done only for a budget.
    fn give_back(&self, budget: Bytes) -> Result<(), Fault> {
        let file = fs::metadata(self.path()).map_or(0, |m| m.len());
        if file > budget.get() {
            let mut statement = self.db.prepare(&format!("PRAGMA incremental_vacuum({GIVE_BACK_PAGES})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
        }
        Ok(())
    }
    /// Recreates the reserve. If that fails, the disk is full, which the next flush reports.
    pub(crate) fn hold_reserve(&self) {
        let path = self.reserve();
        let held = fs::metadata(&path).is_ok_and(|m| m.len() >= RESERVE_BYTES as u64);
        // Not zeros, which some file systems do not store.
        if !held && fs::write(&path, vec![0x55; RESERVE_BYTES]).is_err() {
            let _ = fs::remove_file(&path);
        }
    }
    fn reserve(&self) -> PathBuf {
        self.dir.join("reserve")
    }
}
