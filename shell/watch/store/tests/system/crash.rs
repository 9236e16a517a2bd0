//! A writer killed at any moment: nothing is damaged, and at most the documented seconds are lost.
use super::support::{
    Dir, KILLED_STEP, SECOND, START, all, child_program, kept, killed_config, naive, open, sample,
};
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::Sample;
use fathom_watch_store::HistoryReader;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration as Real;

fn expected(series: u32, samples: u64) -> Vec<Sample> {
    let at = |n| WallTime(START + n * KILLED_STEP * SECOND);
    kept(&(0..samples).map(|n| sample(series, at(n))).collect::<Vec<_>>())
}

/// Starts the writer, kills it after a random time, and returns the last sample number that it
/// printed.
fn write_and_kill(dir: &Path, rng: &mut Rng) -> Option<u64> {
    let mut child = Command::new(child_program())
        .arg("write")
        .arg(dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example can be started");
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
fn a_writer_killed_at_any_moment_loses_at_most_the_stated_seconds() {
    let dir = Dir::new();
    drop(open(&dir.0, &killed_config()));
    let mut acknowledged = 0;
    for seed in 0..12 {
        acknowledged = write_and_kill(&dir.0, &mut Rng::new(seed)).unwrap_or(acknowledged);
        let (history, repairs) =
            fathom_watch_store::History::open(&dir.0, &killed_config()).expect("it opens");
        assert!(repairs.is_empty(), "seed {seed}: {repairs:?}");
        drop(history);
        let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
        for (id, _) in reader.series().expect("it can be read") {
            let samples = all(&dir.0, id);
            let count = samples.len() as u64;
            assert!(samples == expected(id.0, count), "seed {seed}, series {id:?}");
            let lost = (acknowledged + 1).saturating_sub(count) * KILLED_STEP;
            assert!(lost <= 20 + KILLED_STEP, "seed {seed}: {lost} s lost");
            let to = WallTime(START + (count + 1) * KILLED_STEP * SECOND);
            for columns in [7, 150] {
                let columns = reader.columns(id, WallTime(START), to, columns).expect("it can be read");
                assert!(columns == naive(&columns, &samples), "seed {seed}, series {id:?}");
            }
        }
    }
    // Otherwise no chunk would have been created.
    assert!(acknowledged * KILLED_STEP > 2 * 3_600, "{acknowledged}");
}
