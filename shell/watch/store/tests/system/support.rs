//! A temporary directory per test, generated series, and their expected values.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{Code, Column, Outcome, Sample, Stored, Unit};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId, SeriesKey};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const HOUR: u64 = 3600 * SECOND;
pub(super) const DAY: u64 = 24 * HOUR;
/// 2026-01-05T00:00:00Z, a Monday.
pub(super) const START: u64 = 1_767_571_200 * SECOND;

/// Seconds between samples of a series of the killed process.
pub(super) const KILLED_STEP: u64 = 2;

/// The configuration of the killed process.
pub(super) fn killed_config() -> HistoryConfig {
    HistoryConfig { durable_every: Duration::from_secs(20), ..HistoryConfig::default() }
}

/// The example `history_child`: a separate process that can be killed or run on another disk.
pub(super) fn child_program() -> PathBuf {
    let path = std::env::current_exe().expect("this test").with_file_name("../examples/history_child");
    assert!(path.exists(), "{}: cargo test builds it unless --test is given", path.display());
    path
}

/// A temporary directory.
pub(super) struct Dir(
    pub(super) PathBuf,
    #[expect(dead_code, reason = "it removes the directory when it is dropped")] TempDir,
);

impl Dir {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().expect("the temporary directory can be written");
        Dir(dir.path().to_owned(), dir)
    }
    /// Names of all entries.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it exists");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub(super) fn key(target: &str) -> SeriesKey {
    SeriesKey { target: target.into(), probe: "icmp".into(), unit: Unit::Seconds }
}

/// Opens a history that needs no repair.
pub(super) fn open(dir: &Path, config: &HistoryConfig) -> History {
    let (history, repairs) = History::open(dir, config).expect("the directory can be used");
    assert!(repairs.is_empty(), "{repairs:?}");
    history
}

/// A configuration for tests that do not need durability, because each flush takes a disk's time.
pub(super) fn seldom() -> HistoryConfig {
    HistoryConfig { durable_every: Duration::from_secs(400), ..HistoryConfig::default() }
}

/// The sample of a series at a time; always the same.
pub(super) fn sample(series: u32, at: WallTime) -> Sample {
    let mut rng = Rng::new(at.0 ^ u64::from(series));
    let outcome = match rng.below(100) {
        0 => Outcome::Lost,
        1 => Outcome::Failed,
        2 => Outcome::Late(Duration::from_millis(5_000 + rng.below(60_000))),
        _ => Outcome::Answered(Duration::from_micros(10_000 + rng.exponential(4_000))),
    };
    Sample { at, outcome }
}

/// The expected stored values.
pub(super) fn kept(samples: &[Sample]) -> Vec<Sample> {
    let mut kept: Vec<Sample> =
        samples.iter().map(|s| Stored { code: Code::of(s.outcome), ..Stored::of(*s) }.sample()).collect();
    kept.sort_by_key(|s| s.at.0);
    kept
}

/// Every sample of a series.
pub(super) fn all(dir: &Path, id: SeriesId) -> Vec<Sample> {
    let mut reader = HistoryReader::open(dir).expect("there is a history");
    let samples = reader.samples(id, WallTime(0), WallTime(u64::MAX / 2)).expect("it can be read");
    assert_eq!(reader.faults(), Vec::<String>::new());
    samples
}

/// Reference columns, computed from all samples one by one.
pub(super) fn naive(columns: &[Column], samples: &[Sample]) -> Vec<Column> {
    let mut naive: Vec<Column> =
        columns.iter().map(|c| Column { from: c.from, to: c.to, ..Column::default() }).collect();
    for sample in samples {
        if let Some(column) = naive.iter_mut().find(|c| c.from <= sample.at && sample.at < c.to) {
            column.tally.add(Code::of(sample.outcome));
            column.sketch.add(Code::of(sample.outcome));
        }
    }
    naive
}
