//! A writer that is killed at any moment: nothing is damaged, and at most the stated seconds are lost.
use super::support::{Dir, SECOND, START, all, kept, key, naive, open, sample};
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::Sample;
use fathom_watch_store::{HistoryConfig, HistoryReader, SeriesId};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration as Real;

/// In the environment of a child: where it writes.
const CHILD: &str = "FATHOM_TEST_HISTORY_WRITER";
/// Series that are written.
const SERIES: u32 = 8;
/// Seconds from one sample of a series to the next.
const STEP: u64 = 2;

fn config() -> HistoryConfig {
    HistoryConfig { durable_every: Duration::from_secs(20), ..HistoryConfig::default() }
}

fn expected(series: u32, samples: u64) -> Vec<Sample> {
    let at = |n| WallTime(START + n * STEP * SECOND);
    kept(&(0..samples).map(|n| sample(series, at(n))).collect::<Vec<_>>())
}

/// Not a test of its own: the writer that the test below starts and kills.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let mut history = open(&dir, &config());
    let ids: Vec<SeriesId> =
        (0..SERIES).map(|n| history.series(&key(&format!("target-{n}"))).expect("room")).collect();
    let mut out = std::io::stdout();
    for n in all(&dir, ids[0]).len() as u64.. {
        let at = WallTime(START + n * STEP * SECOND);
        for id in &ids {
            history.record(*id, &[sample(id.0, at)]);
        }
        assert!(history.flush(at).is_empty());
        // What has been told was recorded before.
        writeln!(out, "recorded {n}").expect("the test listens");
    }
}

/// Starts the writer, kills it after a random time, and gives the number of the last sample that it told.
fn write_and_kill(dir: &Path, rng: &mut Rng) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "crash::child_that_writes_until_it_is_killed", "--nocapture"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test can be started");
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    let listener = std::thread::spawn(move || {
        let numbers =
            out.lines().map_while(Result::ok).filter_map(|l| l.strip_prefix("recorded ")?.parse().ok());
        numbers.last()
    });
    std::thread::sleep(Real::from_micros(30_000 + rng.below(500_000)));
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    listener.join().expect("it listens")
}

#[test]
fn a_writer_killed_at_any_moment_loses_the_stated_seconds_at_most() {
    let dir = Dir::new();
    drop(open(&dir.0, &config()));
    let mut told = 0;
    for seed in 0..12 {
        told = write_and_kill(&dir.0, &mut Rng::new(seed)).unwrap_or(told);
        let (history, repairs) = fathom_watch_store::History::open(&dir.0, &config()).expect("it opens");
        assert!(repairs.is_empty(), "seed {seed}: {repairs:?}");
        drop(history);
        let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
        for (id, _) in reader.series().expect("it can be read") {
            let samples = all(&dir.0, id);
            let count = samples.len() as u64;
            assert!(samples == expected(id.0, count), "seed {seed}, series {id:?}");
            let lost = (told + 1).saturating_sub(count) * STEP;
            assert!(lost <= 20 + STEP, "seed {seed}: {lost} s lost");
            let to = WallTime(START + (count + 1) * STEP * SECOND);
            for columns in [7, 150] {
                let columns = reader.columns(id, WallTime(START), to, columns).expect("it can be read");
                assert!(columns == naive(&columns, &samples), "seed {seed}, series {id:?}");
            }
        }
    }
    // Else no chunk was ever made.
    assert!(told * STEP > 2 * 3_600, "{told}");
}
