//! Reads one series from the tables that hold it.
use crate::database::{self, Kind};
use crate::error::Fault;
use crate::table::{DAY_MS, HOUR_MS, SLOT_MS, Table};
use crate::tail::Tail;
use crate::writer::NANOS_PER_MILLI;
use fathom_units::WallTime;
use fathom_watch_samples::{Chunk, Column, Columns, Stored, Windows};
use rusqlite::Connection;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Detail from which columns are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detail {
    Samples,
    TenMinutes,
    Hours,
    Days,
}

/// Reads a consistent state of a history.
pub(crate) struct Filler<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) tail: &'a Tail,
    pub(crate) faults: &'a mut Vec<String>,
    /// Ends the reading when it is set.
    pub(crate) stop: &'a AtomicBool,
}

impl Detail {
    /// The coarsest detail that is sufficient for columns of this width.
    fn for_width(width_ms: u64) -> Detail {
        match width_ms {
            DAY_MS.. => Detail::Days,
            HOUR_MS.. => Detail::Hours,
            SLOT_MS.. => Detail::TenMinutes,
            _ => Detail::Samples,
        }
    }
    fn step_ms(self) -> u64 {
        match self {
            Detail::Samples => 1,
            Detail::TenMinutes => SLOT_MS,
            Detail::Hours => HOUR_MS,
            Detail::Days => DAY_MS,
        }
    }
    fn table(self) -> Table {
        match self {
            Detail::Samples => Table::Chunk,
            Detail::TenMinutes => Table::TenMinutes,
            Detail::Hours => Table::Hours,
            Detail::Days => Table::Days,
        }
    }
    fn coarser(self) -> Option<Detail> {
        match self {
            Detail::Samples => Some(Detail::TenMinutes),
            Detail::TenMinutes => Some(Detail::Hours),
            Detail::Hours => Some(Detail::Days),
            Detail::Days => None,
        }
    }
}

impl Filler<'_> {
    pub(crate) fn columns(
        &mut self,
        series: u32,
        from: WallTime,
        to: WallTime,
        count: usize,
    ) -> Result<Vec<Column>, Fault> {
        let width_ms = to.0.saturating_sub(from.0) / NANOS_PER_MILLI / (count as u64).max(1);
        let detail = Detail::for_width(width_ms);
        let mut columns = Columns::new(from, to, count, detail.step_ms());
        let range = columns.range_ms();
        self.fill_closed(series, detail, range.clone(), &mut columns)?;
        self.fill_open(series, detail, &range, &mut columns)?;
        Ok(columns.finish())
    }
    /// Fills columns from chunks or days. For times before the oldest data of this detail, uses
    /// coarser windows.
    fn fill_closed(
        &mut self,
        series: u32,
        detail: Detail,
        range: Range<u64>,
        columns: &mut Columns,
    ) -> Result<(), Fault> {
        // Whole days are dropped, so the first remaining day is complete.
        let Some(oldest_ms) = detail.table().oldest_ms(self.db)? else { return Ok(()) };
        let from = (oldest_ms / DAY_MS * DAY_MS).clamp(range.start, range.end);
        if let Some(coarser) = detail.coarser().filter(|_| from > range.start) {
            self.fill_closed(series, coarser, range.start..from, columns)?;
        }
        let rest = from..range.end;
        for id in self.rows(detail.table(), series, &rest)? {
            if detail == Detail::Samples {
                let chunk = self.sound(Table::Chunk.chunk(self.db, id))?;
                chunk.iter().for_each(|c| columns.add_chunk(c, &rest));
            } else {
                let windows = self.sound(detail.table().windows(self.db, id))?;
                windows.iter().for_each(|w| columns.add_windows(w, &rest));
            }
        }
        Ok(())
    }
    /// Fills columns from data that is in no chunk or day yet. It is read in this detail, whatever
    /// its age, because no coarser windows contain it.
    fn fill_open(
        &mut self,
        series: u32,
        detail: Detail,
        range: &Range<u64>,
        columns: &mut Columns,
    ) -> Result<(), Fault> {
        if detail == Detail::Samples {
            return self.each_open(series, range, &mut |chunk| columns.add_chunk(chunk, range));
        }
        let mut windows = Windows::new(detail.step_ms());
        for id in self.rows(Table::Recent, series, range)? {
            if let Some(recent) = self.sound(Table::Recent.windows(self.db, id))? {
                windows.merge(&recent);
            }
        }
        self.each_open(series, range, &mut |chunk| windows.add_chunk(chunk))?;
        columns.add_windows(&windows, range);
        Ok(())
    }
    pub(crate) fn samples(
        &mut self,
        series: u32,
        from: WallTime,
        to: WallTime,
    ) -> Result<Vec<Stored>, Fault> {
        let range = from.0.div_ceil(NANOS_PER_MILLI)..to.0.div_ceil(NANOS_PER_MILLI);
        let mut all = Vec::new();
        let mut take = |chunk: &Chunk| all.extend(chunk.samples.iter().filter(|s| range.contains(&s.at_ms)));
        for id in self.rows(Table::Chunk, series, &range)? {
            let chunk = self.sound(Table::Chunk.chunk(self.db, id))?;
            chunk.iter().for_each(&mut take);
        }
        self.each_open(series, &range, &mut take)?;
        // Samples of the same time are in the same order wherever they are stored.
        all.sort_by_key(|s: &Stored| (s.at_ms, s.code));
        Ok(all)
    }
    /// A lower bound, from `from` on, of the time of the next sample of a series.
    pub(crate) fn next(&self, series: u32, from: WallTime) -> Result<Option<WallTime>, Fault> {
        let from_ms = from.0.div_ceil(NANOS_PER_MILLI);
        let closed = [Table::Chunk.next_ms(self.db, from_ms)?, Table::Part.next_ms(self.db, from_ms)?];
        let open = self.tail.chunk(series).into_iter().flat_map(|chunk| &chunk.samples);
        let open = open.map(|sample| sample.at_ms).filter(|at_ms| *at_ms >= from_ms).min();
        let next = closed.into_iter().chain([open]).flatten().min();
        Ok(next.map(|ms| WallTime(ms.max(from_ms).saturating_mul(NANOS_PER_MILLI))))
    }
    /// The days from the first to the last sample.
    pub(crate) fn days(&self, series: u32) -> Result<Vec<Range<WallTime>>, Fault> {
        let mut ends = Vec::new();
        for table in [Table::Chunk, Table::Part] {
            ends.extend(table.oldest_ms(self.db)?);
            ends.extend(table.newest_ms(self.db)?);
        }
        ends.extend(self.tail.chunk(series).into_iter().flat_map(|chunk| &chunk.samples).map(|s| s.at_ms));
        let (first, last) = (ends.iter().min(), ends.iter().max());
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        let wall = |day: u64| WallTime((day * DAY_MS).saturating_mul(NANOS_PER_MILLI));
        Ok((first / DAY_MS..=last / DAY_MS).map(|day| wall(day)..wall(day + 1)).collect())
    }
    pub(crate) fn newest(&mut self, series: u32) -> Result<Option<Stored>, Fault> {
        let latest = |chunk: &Chunk| chunk.samples.iter().copied().max_by_key(|s| s.at_ms);
        let mut newest = self.tail.chunk(series).and_then(latest);
        for table in [Table::Part, Table::Chunk] {
            let (first, last) = (table.oldest_ms(self.db)?, table.newest_ms(self.db)?);
            let (Some(first), Some(last)) = (first, last) else { continue };
            let mut at_ms = last;
            while newest.is_none() && at_ms >= first {
                newest = self.sound(table.chunk(self.db, table.id(at_ms, series)))?.as_ref().and_then(latest);
                let Some(before) = at_ms.checked_sub(table.span_ms()) else { break };
                at_ms = before;
            }
        }
        Ok(newest)
    }
    /// All samples of a period that are in parts or in the journal, not in chunks.
    fn each_open(
        &mut self,
        series: u32,
        range: &Range<u64>,
        take: &mut dyn FnMut(&Chunk),
    ) -> Result<(), Fault> {
        for id in self.rows(Table::Part, series, range)? {
            let part = self.sound(Table::Part.chunk(self.db, id))?;
            part.iter().for_each(&mut *take);
        }
        self.tail.chunk(series).into_iter().for_each(take);
        Ok(())
    }
    /// The rows of a series in a period, within the range of the table.
    fn rows(&self, table: Table, series: u32, range: &Range<u64>) -> Result<Vec<i64>, Fault> {
        let (first, last) = (table.oldest_ms(self.db)?, table.newest_ms(self.db)?);
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        let span = table.span_ms();
        let from = (range.start / span).max(first / span);
        let to = range.end.div_ceil(span).min(last / span + 1);
        Ok((from..to).map(|n| table.id(n * span, series)).collect())
    }
    /// Records damage and skips the damaged value.
    fn sound<T>(&mut self, read: Result<Option<T>, Fault>) -> Result<Option<T>, Fault> {
        if self.stop.load(Relaxed) {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
            return Err(rusqlite::Error::SqliteFailure(code, None).into());
        }
        match read {
            Err(Fault::Blob { table, id, why }) => {
                self.faults.push(format!("row {id} of {table} {why}"));
                Ok(None)
            }
            Err(Fault::Sql(error)) if database::kind(&error) == Kind::Corrupt => {
                self.faults.push(error.to_string());
                Ok(None)
            }
            other => other,
        }
    }
}
