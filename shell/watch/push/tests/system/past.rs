//! A generated history of the last minutes, and the data that a receiver should have.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_plan::{Plan, parse};
use fathom_watch_push::{Destination, Names, Pusher, Routers};
use fathom_watch_samples::{Column, Level, Outcome, Sample, Unit};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId, SeriesKey};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const THIS_HOST: &str = "this host";
/// Timeout of each step of a test.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
const SECOND_NS: u64 = 1_000_000_000;

pub(crate) struct Past {
    pub(crate) dir: PathBuf,
    _folder: TempDir,
    history: History,
    rng: Rng,
    /// Everything before it is recorded. A whole minute.
    pub(crate) until: WallTime,
}

pub(crate) fn now() -> WallTime {
    fathom_os::clock::wall_now()
}

/// Retries `look` until it returns a value.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    fathom_test_support::until(what, PATIENCE, look)
}

impl Past {
    /// An empty history that starts some minutes ago.
    pub(crate) fn new(minutes_ago: u64) -> Past {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let (history, _) = History::open(&dir, &HistoryConfig::default()).unwrap();
        let minute = 60 * SECOND_NS;
        let start = WallTime((now().0 / minute - minutes_ago) * minute);
        Past { dir, _folder: folder, history, rng: Rng::new(7), until: start }
    }
    fn series(&mut self, target: &str, probe: &str, unit: Unit) -> SeriesId {
        let key = SeriesKey { target: target.into(), probe: probe.into(), unit };
        self.history.series(&key).unwrap()
    }
    /// Records more minutes: delays of 10 to 200 ms, some probes lost, late, failed, duplicated or
    /// reordered.
    pub(crate) fn goes_on(&mut self, minutes: u64) {
        for name in ["router", "offices/berlin"] {
            let id = self.series(name, "icmp", Unit::Seconds);
            for second in 0..minutes * 60 {
                let at = WallTime(self.until.0 + second * SECOND_NS);
                let rtt = Duration::from_millis(10) + Duration::from_nanos(self.rng.exponential(30_000_000));
                let outcome = match self.rng.below(100) {
                    0..5 => Outcome::Lost,
                    5..8 => Outcome::Late(rtt + Duration::from_secs(1)),
                    8..10 => Outcome::Failed,
                    _ => Outcome::Answered(rtt),
                };
                self.history.record(id, &[Sample { at, outcome }]);
                self.history.count(id, at, u64::from(second % 40 == 0), u64::from(second % 60 == 0));
            }
        }
        let parts = [
            ("eth0 received", Unit::BitsPerSecond),
            ("eth0 sent", Unit::BitsPerSecond),
            ("eth0 backlog", Unit::Bytes),
        ];
        for (probe, unit) in parts {
            let id = self.series(THIS_HOST, probe, unit);
            for second in 0..minutes * 60 {
                let at = WallTime(self.until.0 + second * SECOND_NS);
                self.history.record_levels(id, &[Level { at, value: Some(2e6) }]);
            }
        }
        // A test in the first minute.
        let tested = WallTime(self.until.0 + 30 * SECOND_NS);
        for (probe, lag_ms) in [("lag", 500), ("lag up", 500), ("lag down", 60), ("idle", 12)] {
            let id = self.series("line", probe, Unit::Seconds);
            self.history.record(
                id,
                &[Sample { at: tested, outcome: Outcome::Answered(Duration::from_millis(lag_ms)) }],
            );
        }
        for (probe, unit, value) in [("rate up", Unit::BitsPerSecond, 9e5), ("buffer up", Unit::Bytes, 64e3)]
        {
            let id = self.series("line", probe, unit);
            self.history.record_levels(id, &[Level { at: tested, value: Some(value) }]);
        }
        let id = self.series(THIS_HOST, "lateness of icmp", Unit::Seconds);
        // A sample beyond the end shows that everything before it is written.
        for second in 0..=minutes * 60 {
            let at = WallTime(self.until.0 + second * SECOND_NS);
            self.history.record(id, &[Sample { at, outcome: Outcome::Answered(Duration::from_micros(80)) }]);
        }
        self.until = WallTime(self.until.0 + minutes * 60 * SECOND_NS);
        self.history.save(self.until);
    }
    /// Records a path for as long as the next call of [`Past::goes_on`] with so many minutes: the
    /// second router does not answer in the second minute.
    pub(crate) fn has_path(&mut self, minutes: u64) {
        for probe in ["hop 1", "hop 2"] {
            let id = self.series("far", probe, Unit::Seconds);
            for second in 0..minutes * 60 {
                let at = WallTime(self.until.0 + second * SECOND_NS);
                let is_silent = probe == "hop 2" && (60..120).contains(&second);
                let outcome =
                    if is_silent { Outcome::Lost } else { Outcome::Answered(Duration::from_millis(2)) };
                self.history.record(id, &[Sample { at, outcome }]);
            }
        }
    }
    /// Starts sending at `from`.
    pub(crate) fn begin_at(&self, name: &str, from: WallTime) {
        let text = format!("{{\"fathom_push\":1,\"upto_ms\":{},\"series\":[]}}", from.0 / 1_000_000);
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text.as_bytes()).unwrap();
        std::fs::write(self.cursor(name), packer.finish().unwrap()).unwrap();
    }
    pub(crate) fn cursor(&self, name: &str) -> PathBuf {
        self.dir.join(format!("push-{name}.json.gz"))
    }
    /// The time up to which a destination has sent, in milliseconds.
    pub(crate) fn sent_ms(&self, name: &str) -> u64 {
        let mut text = String::new();
        let Ok(file) = std::fs::File::open(self.cursor(name)) else { return 0 };
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["upto_ms"].as_u64().unwrap()
    }
    /// The last time that is sent: `settle` before the end, rounded down to whole steps.
    pub(crate) fn last_ms(&self) -> u64 {
        (self.until.0 / 1_000_000 - SETTLE_MS) / INTERVAL_MS * INTERVAL_MS
    }
    /// The history's own data of a series in the four hours before a time.
    pub(crate) fn truth(&self, target: &str, to_ms: u64) -> Column {
        let mut reader = HistoryReader::open(&self.dir).unwrap();
        let (id, _) = reader.series().unwrap().into_iter().find(|(_, key)| key.target == target).unwrap();
        let to = WallTime(to_ms * 1_000_000);
        reader.columns(id, WallTime(to.0 - 14_400 * SECOND_NS), to, 3_600).unwrap().into_iter().fold(
            Column::default(),
            |mut sum, column| {
                sum.tally.merge(&column.tally);
                sum.sketch.merge(&column.sketch);
                sum
            },
        )
    }
}

pub(crate) const INTERVAL_MS: u64 = 10_000;
/// A timeout of 1 s, and the time until everything is on disk.
pub(crate) const SETTLE_MS: u64 = 16_000;

/// A plan with one destination of this name.
pub(crate) fn plan(push: &str) -> Plan {
    let text = format!(
        "[defaults]\ntimeout = '1s'\n[[target]]\nname = 'router'\nhost = '192.0.2.1'\n\
         [[group]]\nname = 'offices'\n[[group.target]]\nname = 'berlin'\nhost = '192.0.2.2'\n\
         [[push]]\nname = 'far'\ninterval = '10s'\ninstance = 'here'\n{push}"
    );
    parse(&text, "test").unwrap_or_else(|error| panic!("{error}"))
}

/// A running sender, and its notes that were not read yet.
pub(crate) struct Pushing {
    pusher: Pusher,
    notes: RefCell<VecDeque<String>>,
}

/// Sends the history in `dir` according to `plan`, without routers.
pub(crate) fn push(plan: &Plan, dir: &Path) -> Pushing {
    push_with(plan, Arc::new(Vec::new), dir)
}

pub(crate) fn push_with(plan: &Plan, routers: Routers, dir: &Path) -> Pushing {
    let all = plan.pushes.iter().map(|push| Destination::of(push).unwrap()).collect();
    let pusher = Pusher::start(all, Names::of(plan, THIS_HOST), routers, dir);
    Pushing { pusher, notes: RefCell::default() }
}

impl Pushing {
    /// The next note that contains `words`.
    pub(crate) fn wait_for_note(&self, words: &str) -> String {
        until(&format!("a note of {words:?}"), || {
            let mut notes = self.notes.borrow_mut();
            notes.extend(self.pusher.notes().into_iter().map(|note| note.text));
            std::iter::from_fn(|| notes.pop_front()).find(|text| text.contains(words))
        })
    }
    pub(crate) fn stop(self) {
        self.pusher.stop();
    }
}
