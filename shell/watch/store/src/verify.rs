//! Checks a history, saves what can be read of a damaged one, and makes a copy of a running one.
use crate::database::FILE;
use crate::recover::renamed;
use crate::series::Book;
use crate::table::Table;
use crate::{Event, History, HistoryError, HistoryReader, ImportSummary, SeriesId, SeriesKey};
use fathom_units::WallTime;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of problems listed by SQLite.
const MAX_PROBLEMS: usize = 100;

/// Result of a check.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verified {
    /// Rows that were read.
    pub rows: u64,
    /// What is damaged.
    pub problems: Vec<String>,
}

/// What was saved of a damaged database.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Recovered {
    /// Its samples.
    pub samples: ImportSummary,
    /// Events that were added.
    pub events: u64,
    /// What could not be read.
    pub faults: Vec<String>,
    /// The new name of the damaged database.
    pub kept: PathBuf,
}

impl HistoryReader {
    /// Reads everything, and changes nothing. Takes about a second per series and year.
    ///
    /// # Errors
    /// If the database cannot be read at all.
    pub fn verify(&mut self) -> Result<Verified, HistoryError> {
        let mut verified = Verified { rows: 0, problems: self.faults() };
        let rows = self.read(|reader| {
            let db = reader.db();
            let mut check = db.prepare(&format!("PRAGMA quick_check({MAX_PROBLEMS})"))?;
            let lines: Result<Vec<String>, _> = check.query_map([], |row| row.get(0))?.collect();
            verified.problems.extend(lines?.into_iter().filter(|line| line != "ok"));
            for number in Book::read(db)?.1 {
                verified.problems.push(format!("the name of series {number} is damaged"));
            }
            let mut rows = 0;
            for table in Table::ALL {
                for id in table.ids(db)? {
                    rows += 1;
                    if let Err(fault) = table.check(db, id) {
                        verified.problems.push(fault.to_string());
                    }
                }
            }
            Ok(rows)
        })?;
        verified.rows = rows;
        // Those of the journal, which was read first.
        verified.problems.extend(self.faults());
        Ok(verified)
    }
    /// Writes a copy of the history at this moment, also of one that is being written.
    ///
    /// # Errors
    /// If `to` exists or cannot be written.
    pub fn back_up(&mut self, to: &Path) -> Result<(), HistoryError> {
        let failed = |source| HistoryError::System { path: to.into(), source };
        if to.exists() {
            return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, "it already exists")));
        }
        let new = PathBuf::from(format!("{}.new", to.display()));
        let _ = fs::remove_file(&new);
        let copied = self
            .db()
            .execute("VACUUM INTO ?", [new.to_string_lossy()])
            .map_err(|error| failed(io::Error::other(error.to_string())))
            .and_then(|_| File::open(&new).and_then(|file| file.sync_all()).map_err(failed))
            .and_then(|()| fs::rename(&new, to).map_err(failed));
        if copied.is_err() {
            let _ = fs::remove_file(&new);
        }
        copied
    }
}

impl History {
    /// Databases of this history that were moved aside.
    #[must_use]
    pub fn damaged(&self) -> Vec<PathBuf> {
        let is_damaged = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let number = name.strip_prefix(&format!("{FILE}.corrupt-")).map(str::to_owned);
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut damaged: Vec<PathBuf> = files.filter(is_damaged).collect();
        damaged.sort();
        damaged
    }
    /// Adds what can be read of a damaged database, and renames it. Ten-minute slots that have data
    /// are left unchanged. Histograms that are older than single samples are not added.
    ///
    /// # Errors
    /// If nothing can be read, or this history cannot be written.
    pub fn recover(&mut self, damaged: &Path, now: WallTime) -> Result<Recovered, HistoryError> {
        let mut reader = HistoryReader::open_file(damaged)?;
        let mut recovered = Recovered::default();
        let mut numbers = Vec::new();
        for (id, key) in reader.series()? {
            let number = self.series(&key)?;
            numbers.push((id, number));
            for day in reader.days(id)? {
                match reader.stored(id, day.start, day.end) {
                    Ok(samples) => {
                        let added = self.bring_in(number, &samples, now)?;
                        recovered.samples.samples += added.samples;
                        recovered.samples.known += added.known;
                        recovered.samples.out_of_time += added.out_of_time;
                    }
                    Err(error) => recovered.faults.push(format!("{}: {error}", name(&key))),
                }
            }
        }
        match reader.events(WallTime(0), WallTime(i64::MAX as u64)) {
            Ok(events) => {
                recovered.events = self.add_missing(events.into_iter().map(|(_, e)| e), &numbers)?
            }
            Err(error) => recovered.faults.push(format!("events: {error}")),
        }
        recovered.faults.extend(reader.faults());
        drop(reader);
        self.save(now);
        recovered.kept = renamed(damaged, "recovered");
        Ok(recovered)
    }
    fn add_missing(
        &mut self,
        events: impl Iterator<Item = Event>,
        numbers: &[(SeriesId, SeriesId)],
    ) -> Result<u64, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path(), source };
        let own = crate::event::between(&self.db, WallTime(0), WallTime(i64::MAX as u64)).map_err(failed)?;
        let identity = |event: &Event| (event.at, event.kind.clone(), event.text.clone());
        let known: BTreeSet<_> = own.iter().map(|(_, event)| identity(event)).collect();
        let mut added = 0;
        for event in events.filter(|event| !known.contains(&identity(event))) {
            let number = |old: SeriesId| numbers.iter().find(|(id, _)| *id == old).map(|(_, new)| *new);
            self.event(&Event { series: event.series.and_then(number), ..event });
            added += 1;
        }
        Ok(added)
    }
}

fn name(key: &SeriesKey) -> String {
    format!("{} {}", key.target, key.probe)
}
