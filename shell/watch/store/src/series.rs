//! The series of a history.
use crate::error::Fault;
use fathom_watch_samples::Unit;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Maximum number of series: the number has 24 bits in a row ID.
pub(crate) const MAX_SERIES: u32 = 1 << 24;

/// The number of a series in a history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeriesId(pub u32);

/// Identity of a series.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeriesKey {
    /// The name of the target in the plan.
    pub target: String,
    /// The probe: `icmp`, `udp`, `tcp:443`, `hop 3`.
    pub probe: String,
    /// The unit of the values.
    pub unit: Unit,
}

/// All series with their numbers.
#[derive(Default)]
pub(crate) struct Book {
    numbers: BTreeMap<SeriesKey, u32>,
    next: u32,
    /// Series not written yet.
    new: Vec<(u32, SeriesKey)>,
}

impl Book {
    /// Reads all series, and the numbers of damaged rows.
    pub(crate) fn read(db: &Connection) -> rusqlite::Result<(Book, Vec<u32>)> {
        let (mut book, mut damaged) = (Book::default(), Vec::new());
        let mut statement = db.prepare("SELECT id, target, probe, unit, checksum FROM series")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: u32 = row.get(0)?;
            book.next = book.next.max(id.saturating_add(1));
            match read_row(row) {
                Some(key) => drop(book.numbers.insert(key, id)),
                None => damaged.push(id),
            }
        }
        Ok((book, damaged))
    }
    /// The number of a series, a new one if necessary; `None` if there are too many.
    pub(crate) fn number(&mut self, key: &SeriesKey) -> Option<u32> {
        if let Some(number) = self.numbers.get(key) {
            return Some(*number);
        }
        let number = self.next;
        if number >= MAX_SERIES {
            return None;
        }
        self.next += 1;
        self.numbers.insert(key.clone(), number);
        self.new.push((number, key.clone()));
        Some(number)
    }
    /// Gives a damaged series a placeholder name, because its name is lost.
    pub(crate) fn rename_damaged(&mut self, number: u32) {
        let key =
            SeriesKey { target: format!("damaged-{number}"), probe: "unknown".into(), unit: Unit::Seconds };
        self.numbers.insert(key.clone(), number);
        self.new.push((number, key));
    }
    /// Marks all series as unwritten, for a new database.
    pub(crate) fn write_all_again(&mut self) {
        self.new = self.numbers.iter().map(|(key, number)| (*number, key.clone())).collect();
    }
    /// Writes the new series.
    pub(crate) fn write(&self, db: &Connection) -> Result<(), Fault> {
        for (number, key) in &self.new {
            let sum = checksum(key);
            db.prepare_cached("INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?, ?)")?.execute(params![
                number,
                key.target,
                key.probe,
                key.unit.word(),
                sum
            ])?;
        }
        Ok(())
    }
    /// Marks all series as written.
    pub(crate) fn written(&mut self) {
        self.new.clear();
    }
}

/// All series with intact rows.
pub(crate) fn list(db: &Connection) -> rusqlite::Result<Vec<(SeriesId, SeriesKey)>> {
    let (book, _) = Book::read(db)?;
    let mut list: Vec<_> = book.numbers.into_iter().map(|(key, id)| (SeriesId(id), key)).collect();
    list.sort();
    Ok(list)
}

fn read_row(row: &rusqlite::Row<'_>) -> Option<SeriesKey> {
    let word: String = row.get(3).ok()?;
    let unit = Unit::from_word(&word)?;
    let key = SeriesKey { target: row.get(1).ok()?, probe: row.get(2).ok()?, unit };
    let sum: i64 = row.get(4).ok()?;
    (sum == checksum(&key)).then_some(key)
}

/// Checksum of a key, because SQLite does not detect a changed byte in a text.
fn checksum(key: &SeriesKey) -> i64 {
    let all = format!("{}\0{}\0{}", key.target, key.probe, key.unit.word());
    i64::from(fathom_watch_samples::checksum(all.as_bytes()))
}
