//! Events: alerts, path changes, restarts.
use crate::SeriesId;
use crate::error::Fault;
use fathom_units::WallTime;
use rusqlite::{Connection, Row, params};

/// An event with a time or a period.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Start time.
    pub at: WallTime,
    /// End time; `None` while it lasts, and for events without a duration.
    pub until: Option<WallTime>,
    /// The series it is about; `None` for all.
    pub series: Option<SeriesId>,
    /// The kind, in one word.
    pub kind: String,
    /// Description.
    pub text: String,
    /// A number to sort by, in a unit that depends on the kind.
    pub value: Option<f64>,
}

/// The number of an event in a history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct EventId(pub u64);

/// Events that are not written yet.
#[derive(Default)]
pub(crate) struct Events {
    next: u64,
    new: Vec<(u64, Event)>,
    ended: Vec<(u64, WallTime)>,
}

impl Events {
    pub(crate) fn read(db: &Connection) -> rusqlite::Result<Events> {
        let last: Option<i64> = db.query_row("SELECT max(id) FROM event", [], |row| row.get(0))?;
        Ok(Events { next: last.unwrap_or(0).max(0) as u64 + 1, ..Events::default() })
    }
    pub(crate) fn add(&mut self, event: Event) -> EventId {
        let id = self.next;
        self.next += 1;
        self.new.push((id, event));
        EventId(id)
    }
    pub(crate) fn end(&mut self, EventId(id): EventId, until: WallTime) {
        self.ended.push((id, until));
    }
    pub(crate) fn write(&self, db: &Connection) -> Result<(), Fault> {
        let mut insert = db.prepare_cached("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        for (id, event) in &self.new {
            let (at, until) = (event.at.0 as i64, event.until.map(|t| t.0 as i64));
            let series = event.series.map(|s| s.0);
            insert.execute(params![*id as i64, at, until, series, event.kind, event.text, event.value])?;
        }
        let mut end = db.prepare_cached("UPDATE event SET until_ns = ? WHERE id = ?")?;
        for (id, until) in &self.ended {
            end.execute([until.0 as i64, *id as i64])?;
        }
        Ok(())
    }
    pub(crate) fn written(&mut self) {
        self.new.clear();
        self.ended.clear();
    }
}

/// Events that started in a period or lasted into it, in order of start.
pub(crate) fn between(
    db: &Connection,
    from: WallTime,
    to: WallTime,
) -> rusqlite::Result<Vec<(EventId, Event)>> {
    let mut statement = db.prepare_cached(
        "SELECT id, at_ns, until_ns, series, kind, text, value FROM event
         WHERE at_ns < ?2 AND (at_ns >= ?1 OR until_ns > ?1) ORDER BY at_ns, id",
    )?;
    let rows = statement.query_map([from.0 as i64, to.0 as i64], read_row)?;
    rows.collect()
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<(EventId, Event)> {
    let time = |i| -> rusqlite::Result<Option<WallTime>> {
        Ok(row.get::<_, Option<i64>>(i)?.map(|ns| WallTime(ns.max(0) as u64)))
    };
    let event = Event {
        at: time(1)?.unwrap_or_default(),
        until: time(2)?,
        series: row.get::<_, Option<u32>>(3)?.map(SeriesId),
        kind: row.get(4)?,
        text: row.get(5)?,
        value: row.get(6)?,
    };
    Ok((EventId(row.get::<_, i64>(0)?.max(0) as u64), event))
}
