//! Workloads for `bench/watch/store.py`: a history filled from synthetic links, queried, killed,
//! and put on a full disk.
//!
//! `fill DIR PROFILES SERIES SECONDS FLUSH_SECONDS`, `query DIR`, `write DIR`, `check DIR`,
//! `full DIR SEED`, `clock DIR SEED`, `text PROFILE SECONDS`, `past DIR SEED SECONDS END_SECOND`.
//! Each prints one line of JSON, except `write`, which prints each recorded second until it is
//! killed, `text`, which prints OpenMetrics, and `past`, which prints nothing.
#![allow(clippy::print_stdout, reason = "an example prints; the library never does")]

mod floor;
mod harm;
mod line;
mod past;
mod query;

use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Outcome, Sample, Unit};
use fathom_watch_store::{History, HistoryConfig, Retention, SeriesId, SeriesKey};
use floor::Floor;
use line::{Line, PROFILES};
use std::error::Error;
use std::path::Path;

pub(crate) type Failure = Box<dyn Error>;

pub(crate) const SECOND: u64 = 1_000_000_000;
/// 2026-01-05T00:00:00Z.
pub(crate) const START: u64 = 1_767_571_200 * SECOND;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["fill", dir, profiles, series, seconds, flush] => {
            fill(Path::new(dir), profiles, series.parse()?, seconds.parse()?, flush.parse()?)
        }
        ["query", dir] => query::query(Path::new(dir)),
        ["write", dir] => harm::write(Path::new(dir)),
        ["check", dir] => harm::check(Path::new(dir)),
        ["full", dir, seed] => harm::full(Path::new(dir), seed.parse()?),
        ["clock", dir, seed] => harm::clock(Path::new(dir), seed.parse()?),
        ["past", dir, seed, seconds, end] => {
            past::write(Path::new(dir), seed.parse()?, seconds.parse()?, end.parse()?)
        }
        ["text", profile, seconds] => text(profile, seconds.parse()?),
        _ => Err("usage: see the first lines of this example".into()),
    }
}

/// Keeps everything, durable after the given time.
pub(crate) fn config(flush_seconds: u64) -> HistoryConfig {
    let keep = Retention { samples: None, ten_minutes: None, hours: None, days: None };
    HistoryConfig { durable_every: Duration::from_secs(flush_seconds), keep, ..HistoryConfig::default() }
}

pub(crate) fn series(history: &mut History, count: u32) -> Result<Vec<SeriesId>, Failure> {
    let key = |n: u32| SeriesKey { target: format!("target-{n}"), probe: "icmp".into(), unit: Unit::Seconds };
    (0..count).map(|n| Ok(history.series(&key(n))?)).collect()
}

/// Writes series of the profiles in turn, one sample per second each.
fn fill(dir: &Path, profiles: &str, count: u32, seconds: u64, flush: u64) -> Result<(), Failure> {
    let (mut history, _) = History::open(dir, &config(flush))?;
    let ids = series(&mut history, count)?;
    let names: Vec<&str> = profiles.split(',').collect();
    let mut lines: Vec<Line> = Vec::new();
    for (n, name) in names.iter().cycle().take(count as usize).enumerate() {
        lines.push(Line::new(name, n as u64)?);
    }
    let mut floors = vec![Floor::default(); lines.len()];
    for second in 0..seconds {
        let at = WallTime(START + second * SECOND);
        for ((id, line), floor) in ids.iter().zip(&mut lines).zip(&mut floors) {
            let outcome = line.next(second);
            floor.add(second, outcome);
            history.record(*id, &[Sample { at, outcome }]);
        }
        history.flush(at);
    }
    // Long enough for the last day to be compacted.
    let end = START + seconds * SECOND;
    for extra in 0..100 {
        history.save(WallTime(end + (3_600 + extra) * SECOND));
    }
    let used = history.status().used.get();
    drop(history);
    let file = std::fs::metadata(dir.join("history.db"))?.len();
    let samples = u64::from(count) * seconds;
    let floor: f64 = floors.into_iter().map(Floor::bytes).sum();
    println!(
        "{{\"samples\":{samples},\"used_bytes\":{used},\"file_bytes\":{file},\"floor_bytes\":{floor:.0},\"written_bytes\":{}}}",
        written()?
    );
    Ok(())
}

/// Bytes of pages that this process dirtied, from `/proc`.
fn written() -> Result<u64, Failure> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|l| l.strip_prefix("write_bytes: ")).ok_or("no write_bytes")?;
    Ok(line.trim().parse()?)
}

/// One series in the form that Prometheus reads; a lost probe has no sample.
fn text(profile: &str, seconds: u64) -> Result<(), Failure> {
    if !PROFILES.contains(&profile) {
        return Err(format!("no profile {profile}").into());
    }
    let mut line = Line::new(profile, 0)?;
    println!("# TYPE rtt_seconds gauge");
    for second in 0..seconds {
        if let Outcome::Answered(rtt) = line.next(second) {
            println!("rtt_seconds {:.9} {}", rtt.as_secs_f64(), START / SECOND + second);
        }
    }
    println!("# EOF");
    Ok(())
}
