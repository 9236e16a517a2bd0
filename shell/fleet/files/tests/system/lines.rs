//! Made-up lines: their truth, their histories, and an archive of them.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{Level, Outcome, Sample, Unit};
use fathom_watch_store::export::{Export, Parquet, Table};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesKey};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// 2026-01-05T00:00:00Z.
pub(crate) const START: WallTime = WallTime(1_767_571_200_000_000_000);
pub(crate) const DAY_NS: u64 = 86_400_000_000_000;
/// The lines of this provider are slow each evening.
pub(crate) const BUSY_PROVIDER: &str = "Ex & \"Net\"";
const HOUR_NS: u64 = DAY_NS / 24;
const DAYS: u64 = 3;
/// Tests are 6 h apart, at a random moment.
const TESTS_PER_DAY: u64 = 4;
const PROBE_EVERY_NS: u64 = 60_000_000_000;

pub(crate) struct Test {
    pub(crate) at: WallTime,
    pub(crate) day: u64,
    pub(crate) lag_up_s: f64,
    pub(crate) idle_s: f64,
    pub(crate) rate_up: f64,
    pub(crate) buffer_up: f64,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) provider: String,
    pub(crate) tests: Vec<Test>,
}

impl Line {
    pub(crate) fn store(&self, folder: &Path) -> PathBuf {
        folder.join(format!("history-{}", encoded(&self.name)))
    }
}

/// As the value of a partition: these names have one character that is escaped.
pub(crate) fn encoded(name: &str) -> String {
    name.replace(' ', "%20")
}

pub(crate) fn lines(seed: u64, count: u64) -> Vec<Line> {
    let mut rng = Rng::new(seed);
    let test = |number: u64, dice: &mut Rng| {
        let slot = DAY_NS / TESTS_PER_DAY;
        let at = WallTime(START.0 + number * slot + dice.below(slot / 2));
        Test {
            at,
            day: number / TESTS_PER_DAY,
            lag_up_s: (dice.next_f64() * 1e9).round() / 1e9 + 0.001,
            idle_s: 0.01 + (dice.next_f64() * 1e7).round() / 1e9,
            rate_up: 1e6 + dice.next_f64() * 1e7,
            buffer_up: 1e4 + dice.next_f64() * 1e6,
        }
    };
    (0..count)
        .map(|number| Line {
            name: format!("home {number}"),
            provider: if number % 2 == 0 { BUSY_PROVIDER } else { "Other" }.to_owned(),
            tests: (0..DAYS * TESTS_PER_DAY).map(|n| test(n, &mut rng)).collect(),
        })
        .collect()
}

/// Writes the histories, and their windows as `[[archive]]` does.
pub(crate) fn archive(folder: &Path, all: &[Line]) {
    for line in all {
        write_history(&line.store(folder), line);
        let site = folder.join("archive/sites").join(format!("site={}", encoded(&line.name)));
        fs::create_dir_all(&site).unwrap();
        let about = serde_json::json!({ "site": line.name, "labels": { "provider": line.provider } });
        fs::write(site.join("site.json"), about.to_string()).unwrap();
        write_windows(&folder.join("archive/windows"), folder, line);
    }
}

fn write_history(store: &Path, line: &Line) {
    let (mut history, _) = History::open(store, &HistoryConfig::default()).unwrap();
    let key =
        |target: &str, probe: &str, unit| SeriesKey { target: target.into(), probe: probe.into(), unit };
    let delay = |seconds: f64| Outcome::Answered(Duration::from_nanos((seconds * 1e9).round() as u64));
    for (probe, of) in [("lag up", 0), ("idle", 1)] {
        let id = history.series(&key("line", probe, Unit::Seconds)).unwrap();
        let value = |test: &Test| if of == 0 { test.lag_up_s } else { test.idle_s };
        let all: Vec<Sample> =
            line.tests.iter().map(|test| Sample { at: test.at, outcome: delay(value(test)) }).collect();
        history.record(id, &all);
    }
    for (probe, unit) in [("rate up", Unit::BitsPerSecond), ("buffer up", Unit::Bytes)] {
        let id = history.series(&key("line", probe, unit)).unwrap();
        let value = |test: &Test| if unit == Unit::Bytes { test.buffer_up } else { test.rate_up };
        let all: Vec<Level> =
            line.tests.iter().map(|test| Level { at: test.at, value: Some(value(test)) }).collect();
        history.record_levels(id, &all);
    }
    let evening = |at: u64| (20..22).contains(&(at % DAY_NS / HOUR_NS));
    let rtt = |at: u64| if line.provider == BUSY_PROVIDER && evening(at) { 0.06 } else { 0.012 };
    // The router is slow at all times, and this host all morning: neither is the line.
    type IsSlow = fn(u64) -> bool;
    let series: [(&str, &str, IsSlow); 3] = [
        ("server", "icmp", |_| false),
        ("server", "hop 2", |at| (at / HOUR_NS).is_multiple_of(2)),
        ("this host", "lateness", |at| at % DAY_NS < DAY_NS / 2),
    ];
    for (target, probe, is_slow) in series {
        let id = history.series(&key(target, probe, Unit::Seconds)).unwrap();
        let times = (0..DAYS * DAY_NS / PROBE_EVERY_NS).map(|n| START.0 + n * PROBE_EVERY_NS);
        let all: Vec<Sample> = times
            .map(|at| Sample { at: WallTime(at), outcome: delay(if is_slow(at) { 0.2 } else { rtt(at) }) })
            .collect();
        history.record(id, &all);
    }
    history.close(WallTime(START.0 + DAYS * DAY_NS));
}

fn write_windows(to: &Path, folder: &Path, line: &Line) {
    let mut reader = HistoryReader::open(&line.store(folder)).unwrap();
    let series = reader.series().unwrap();
    for hour in 0..DAYS * 24 {
        let from = WallTime(START.0 + hour * HOUR_NS);
        let day = to.join(format!("site={}/date={}", encoded(&line.name), from.date()));
        fs::create_dir_all(&day).unwrap();
        let export = Export {
            from,
            to: WallTime(from.0 + HOUR_NS),
            every: Some(Duration::from_nanos(600_000_000_000)),
        };
        let file = File::create(day.join(format!("{:02}.parquet", hour % 24))).unwrap();
        let mut table = Box::new(Parquet::new(file, export.fields()).unwrap());
        export.write(&mut reader, &series, table.as_mut()).unwrap();
        table.finish().unwrap();
    }
}
