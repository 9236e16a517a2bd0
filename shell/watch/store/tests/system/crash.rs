//! A writer killed at any moment: nothing is damaged, and at most the documented seconds are lost.
use super::support::{
    Dir, KILLED_STEP, SECOND, START, all, child_program, kept, killed_config, naive, open, sample,
};
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::Sample;
use fathom_watch_store::HistoryReader;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration as Real;

fn expected(series: u32, samples: u64) -> Vec<Sample> {
    let at = |n| WallTime(START + n * KILLED_STEP * SECOND);
    kept(&(0..samples).map(|n| sample(series, at(n))).collect::<Vec<_>>())
}

/// Starts the writer, kills it after a random time, and returns the last sample number that it
/// printed.
fn write_and_kill(dir: &Path, rng: &mut Rng) -> Option<u64> {
    kill_while_writing(Command::new(child_program()).arg("write").arg(dir), rng)
}

fn kill_while_writing(command: &mut Command, rng: &mut Rng) -> Option<u64> {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the example can be started");
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

/// Compiles the library that keeps only what was synced.
fn shim(dir: &Path) -> PathBuf {
    let library = dir.join("power_cut.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system/power_cut.c");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(compiled.expect("a C compiler, which SQLite needs too").success());
    library
}

/// Gives some blocks of the files in `disk` the content that was written but not synced.
fn write_some_more(disk: &Path, cached: &Path, rng: &mut Rng) {
    for entry in std::fs::read_dir(disk).expect("it exists") {
        let synced = entry.expect("an entry").path();
        let newer = std::fs::read(cached.join(synced.file_name().expect("a name"))).unwrap_or_default();
        let mut bytes = std::fs::read(&synced).expect("it can be read");
        for (at, block) in newer.chunks(4_096).enumerate() {
            let end = at * 4_096 + block.len();
            if rng.below(2) == 0 && end <= bytes.len().max(newer.len()) {
                bytes.resize(bytes.len().max(end), 0);
                bytes[at * 4_096..end].copy_from_slice(block);
            }
        }
        std::fs::write(&synced, bytes).expect("it can be written");
    }
}

/// After a power cut, a disk has what was synced, and any part of what was written since.
#[test]
fn a_power_cut_loses_at_most_the_stated_seconds() {
    let work = Dir::new();
    let library = shim(&work.0);
    let (mut acknowledged, mut most_lost) = (0, 0);
    let disk = work.0.join("disk");
    std::fs::create_dir(&disk).expect("it can be created");
    for seed in 0..20 {
        let rng = &mut Rng::new(seed);
        // The page cache starts with what the disk has.
        let cache = work.0.join(format!("cache-{seed}"));
        std::fs::create_dir(&cache).expect("it can be created");
        for entry in std::fs::read_dir(&disk).expect("it exists") {
            let path = entry.expect("an entry").path();
            std::fs::copy(&path, cache.join(path.file_name().expect("a name"))).expect("it can be copied");
        }
        let mut command = Command::new(child_program());
        command.arg("write").arg(&cache).env("LD_PRELOAD", &library);
        command.env("POWER_FROM", &cache).env("POWER_TO", &disk);
        acknowledged = kill_while_writing(&mut command, rng).unwrap_or(acknowledged);
        if seed % 2 == 1 {
            write_some_more(&disk, &cache, rng);
        }
        // SQLite makes this file again from the log.
        let _ = std::fs::remove_file(disk.join("history.db-shm"));
        let opened = fathom_watch_store::History::open(&disk, &killed_config());
        let (mut history, repairs) = opened.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(repairs.is_empty(), "seed {seed}: {repairs:?}");
        assert!(history.repair().is_empty(), "seed {seed}");
        drop(history);
        let mut reader = HistoryReader::open(&disk).expect("there is a history");
        for (id, _) in reader.series().expect("it can be read") {
            let samples = all(&disk, id);
            let count = samples.len() as u64;
            assert!(samples == expected(id.0, count), "seed {seed}, series {id:?}");
            let lost = (acknowledged + 1).saturating_sub(count) * KILLED_STEP;
            assert!(lost <= 20 + KILLED_STEP, "seed {seed}: {lost} s lost");
            most_lost = most_lost.max(lost);
        }
    }
    // Something was lost, or the shim does nothing.
    assert!(acknowledged > 1_000 && most_lost > 0, "{acknowledged}, {most_lost}");
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
