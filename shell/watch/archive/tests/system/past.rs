//! A generated history, and what its archive should have.
use crate::objects::{Sample, sorted};
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_archive::{Archive, Archiver, Clock, Hops, Sent, Store, progress};
use fathom_watch_samples::{Level, Outcome, Sample as Probe, Unit};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId, SeriesKey};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const HOUR: u64 = 3_600 * SECOND;
/// 2026-01-05T00:00:00Z.
pub(crate) const START: u64 = 1_767_571_200 * SECOND;
/// Timeout of each step of a test.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(100);

/// A history in a temporary directory.
pub(crate) struct Past {
    pub(crate) folder: TempDir,
    pub(crate) history: History,
    rng: Rng,
    /// Seconds between samples of a series.
    step: u64,
}

/// Retries `look` until it returns a value.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    fathom_test_support::until(what, PATIENCE, look)
}

impl Past {
    pub(crate) fn new(step: u64) -> Past {
        let folder = tempfile::tempdir().unwrap();
        let config = HistoryConfig { durable_every: Duration::from_secs(900), ..HistoryConfig::default() };
        let (history, _) = History::open(&folder.path().join("history"), &config).unwrap();
        fs::create_dir(folder.path().join("results")).unwrap();
        Past { folder, history, rng: Rng::new(5), step }
    }
    /// The directory of the history.
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("history")
    }
    /// An existing empty folder.
    pub(crate) fn new_folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    }
    pub(crate) fn series(&mut self, target: &str, probe: &str, unit: Unit) -> SeriesId {
        self.history.series(&SeriesKey { target: target.into(), probe: probe.into(), unit }).unwrap()
    }
    /// Records samples of all series in a period. What a later clock reads is not yet there.
    pub(crate) fn record(&mut self, from: u64, to: u64) {
        // Not in the order of their names.
        let delays = [self.series("d", "hop 3", Unit::Seconds), self.series("a=b/c", "icmp", Unit::Seconds)];
        let level = self.series("this host", "eth0 sent", Unit::BitsPerSecond);
        for at in (from..to).step_by((self.step * SECOND) as usize).map(WallTime) {
            for series in delays {
                let outcome = match self.rng.below(20) {
                    0 => Outcome::Lost,
                    1 => Outcome::Failed,
                    2 => Outcome::Late(Duration::from_millis(6_000)),
                    _ => Outcome::Answered(Duration::from_micros(1_000 + self.rng.below(100_000))),
                };
                self.history.record(series, &[Probe { at, outcome }]);
            }
            let value = (!(at.0 / SECOND).is_multiple_of(7)).then_some(at.0 as f64 / 1e12);
            self.history.record_levels(level, &[Level { at, value }]);
            if (at.0 / SECOND).is_multiple_of(600) {
                self.history.count(delays[0], at, 2, 1);
            }
            self.history.flush(at);
        }
        self.history.save(WallTime(to));
    }
    /// Imports samples of a new series.
    pub(crate) fn import(&mut self, target: &str, from: u64, to: u64, now: u64) {
        let series = self.series(target, "icmp", Unit::Seconds);
        let answered = Outcome::Answered(Duration::from_millis(20));
        let sample = |at| fathom_watch_samples::Stored::of(Probe { at: WallTime(at), outcome: answered });
        let samples: Vec<_> = (from..to).step_by(300 * SECOND as usize).map(sample).collect();
        let brought = self.history.bring_in(series, &samples, WallTime(now)).unwrap();
        assert_eq!(brought.samples, samples.len() as u64);
    }
    /// Writes a result file that is two minutes old by the system's clock.
    pub(crate) fn result(&self, name: &str, content: &[u8]) {
        let path = self.folder.path().join("results").join(name);
        fs::write(&path, content).unwrap();
        let modified = std::time::SystemTime::now() - std::time::Duration::from_secs(120);
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }
    pub(crate) fn archive(&self, name: &str, to: Store) -> Archive {
        Archive {
            name: name.into(),
            to,
            site: "berlin".into(),
            labels: vec![("region".into(), "eu".into()), ("line".into(), "fiber".into())],
            hops: Hops::none(),
            results: Some(self.folder.path().join("results")),
        }
    }
    /// Archives to a folder until all hours before `to` are sent.
    pub(crate) fn archive_to_folder(&self, name: &str, folder: &Path, now: u64, to: u64) {
        let archive = self.archive(name, Store::Folder(folder.into()));
        let running = Archiver::start_with_clock(archive, &self.dir(), fixed(now));
        self.wait_until_sent(name, to);
        let texts: Vec<String> = running.notes().into_iter().map(|note| note.text).collect();
        assert_eq!(texts, Vec::<String>::new());
        running.stop();
    }
    pub(crate) fn sent(&self, name: &str) -> Option<Sent> {
        progress(&self.dir()).into_iter().find(|one| one.name == name)?.sent.ok()
    }
    pub(crate) fn wait_until_sent(&self, name: &str, to: u64) -> Sent {
        let is_last = |sent: &Sent| sent.until >= Some(WallTime(to));
        until(&format!("the last hour of {:?}", self.dir()), || self.sent(name).filter(is_last))
    }
    /// All samples in a period.
    pub(crate) fn truth(&self, from: u64, to: u64) -> Vec<Sample> {
        let mut reader = HistoryReader::open(&self.dir()).unwrap();
        let mut all = Vec::new();
        for (id, key) in reader.series().unwrap() {
            for stored in reader.stored(id, WallTime(from), WallTime(to)).unwrap() {
                let is_delay = key.unit == Unit::Seconds;
                let outcome = match stored.sample().outcome {
                    Outcome::Lost => "lost",
                    Outcome::Failed => "failed",
                    _ if !is_delay => "read",
                    Outcome::Late(_) => "late",
                    Outcome::Answered(_) => "answered",
                };
                let value = stored.code.value();
                all.push(Sample {
                    target: key.target.clone(),
                    probe: key.probe.clone(),
                    at_ms: stored.at_ms,
                    outcome: outcome.into(),
                    rtt: value.filter(|_| is_delay).map(f64::to_bits),
                    rate: value.filter(|_| !is_delay).map(f64::to_bits),
                });
            }
        }
        assert_eq!(reader.faults(), Vec::<String>::new());
        sorted(all)
    }
}

/// A clock that always reads the same.
pub(crate) fn fixed(now: u64) -> Clock {
    Arc::new(move || WallTime(now))
}

/// A clock that a test sets.
pub(crate) fn settable(now: u64) -> (Arc<AtomicU64>, Clock) {
    let hand = Arc::new(AtomicU64::new(now));
    let read = Arc::clone(&hand);
    (hand, Arc::new(move || WallTime(read.load(Ordering::SeqCst))))
}
