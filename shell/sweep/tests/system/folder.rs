//! Tests of folders: interruptions do not change the files, and other sweeps are refused.
use crate::table::{path, plan, simulate};
use fathom_scenario::Grid;
use fathom_sweep::{Description, Folder, Progress, Shard, Sweep, SweepError, TableError, run_parts};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn grid() -> Grid {
    Grid { axes: vec!["hop.0.up.rate=1mbit..1.5mbit/60".parse().unwrap()], seeds: vec![1, 2, 5] }
}

/// 180 cells in 26 files.
fn description(grid: &Grid) -> Description {
    Description {
        version: "1".into(),
        scenario: "dsl".into(),
        text: "a text".into(),
        files: BTreeMap::new(),
        queue: None,
        set: vec![["load.duration".into(), "1s".into()]],
        vary: Description::axes(grid),
        seeds: Description::ranges(&grid.seeds),
        measures: vec!["udp_rtt_s max".into(), "udp_rtt_s max while up".into()],
        cells: grid.len().unwrap(),
        rows_per_file: 7,
    }
}

/// Runs the missing files. Returns the number of finished rows and of simulated cells.
fn run(
    folder: &Folder,
    shard: Shard,
    threads: usize,
    stop_after: Option<u64>,
) -> Result<(u64, u64), SweepError> {
    let (grid, measures) = (folder.description().grid(), folder.description().parsed_measures().unwrap());
    let cells = AtomicU64::new(0);
    let counted = |plan: &_, seed| {
        cells.fetch_add(1, Ordering::Relaxed);
        simulate(plan, seed)
    };
    let sweep = Sweep { grid: &grid, measures: &measures, plan: &plan, simulate: &counted };
    let part = |range, stop: &dyn Fn() -> bool| sweep.part(range, stop);
    let cancel = AtomicBool::new(false);
    let rows = run_parts(folder, shard, threads, &part, &cancel, &mut |progress: Progress| {
        if stop_after.is_some_and(|rows| progress.done >= rows) {
            cancel.store(true, Ordering::Relaxed);
        }
    })?;
    Ok((rows, cells.into_inner()))
}

fn fresh(name: &str) -> PathBuf {
    let path = path(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn open(path: &Path) -> Folder {
    Folder::open(path, description(&grid())).unwrap()
}

/// Names and bytes of the files of a folder.
fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| (file.file_name().unwrap().display().to_string(), std::fs::read(&file).unwrap()))
        .collect()
}

#[test]
fn files_are_the_same_with_any_thread_count_and_after_any_interruption() {
    let whole = fresh("whole");
    assert_eq!(run(&open(&whole), Shard::WHOLE, 1, None).unwrap(), (180, 180));
    let expected = contents(&whole);
    assert_eq!(expected.len(), 1 + 26);
    let names: Vec<&String> = expected.keys().collect();
    assert_eq!(names[..2], ["_sweep.json", "part-000000000.parquet"]);
    assert_eq!(names[26], "part-000000175.parquet");
    for (threads, stop_after) in [(2, None), (7, Some(3)), (3, Some(100))] {
        let interrupted = fresh("interrupted");
        let (before, _) = run(&open(&interrupted), Shard::WHOLE, threads, stop_after).unwrap();
        // What a killed process leaves.
        std::fs::write(interrupted.join(".part-000000007.parquet.1-0.unfinished"), "half").unwrap();
        let (rows, cells) = run(&open(&interrupted), Shard::WHOLE, threads, None).unwrap();
        assert_eq!((rows, cells), (180, 180 - before), "{threads} threads, stopped at {stop_after:?}");
        let mut found = contents(&interrupted);
        found.remove(".part-000000007.parquet.1-0.unfinished");
        assert!(found == expected, "{threads} threads, stopped at {stop_after:?}");
    }
}

#[test]
fn shards_write_each_file_once() {
    let (whole, parts) = (fresh("one"), fresh("shards"));
    run(&open(&whole), Shard::WHOLE, 2, None).unwrap();
    let shard = |index| run(&open(&parts), Shard { index, count: 3 }, 2, None).unwrap();
    let ran: Vec<(u64, u64)> = (0..3).map(shard).collect();
    assert!(ran.iter().all(|(rows, cells)| rows == cells), "{ran:?}");
    assert_eq!(ran.iter().map(|(rows, _)| rows).sum::<u64>(), 180);
    assert!(contents(&parts) == contents(&whole));
}

#[test]
fn a_folder_of_another_sweep_is_left_alone() {
    let folder = fresh("other");
    run(&open(&folder), Shard::WHOLE, 2, Some(20)).unwrap();
    let before = contents(&folder);
    let refused = |description: Description| match Folder::open(&folder, description).unwrap_err() {
        TableError::OtherSweep { differences, .. } => differences,
        error => panic!("{error}"),
    };
    let same = description(&grid());
    assert_eq!(refused(Description { version: "2".into(), ..same.clone() }), ["version"]);
    assert_eq!(refused(Description { rows_per_file: 8, ..same.clone() }), ["rows_per_file"]);
    let more = Grid { seeds: vec![1, 2, 3], ..grid() };
    assert_eq!(refused(Description { text: "another".into(), ..description(&more) }), ["seeds", "text"]);
    // Without a description, or with a damaged one.
    std::fs::write(folder.join("_sweep.json"), "{").unwrap();
    assert_eq!(refused(same.clone()).len(), 11);
    std::fs::remove_file(folder.join("_sweep.json")).unwrap();
    assert_eq!(refused(same), ["_sweep.json"]);
    let mut left = contents(&folder);
    left.insert("_sweep.json".into(), before["_sweep.json"].clone());
    assert!(left == before);
}

#[test]
fn removing_leaves_other_files() {
    let folder = fresh("removed");
    Folder::remove(&folder).unwrap();
    run(&open(&folder), Shard::WHOLE, 2, Some(20)).unwrap();
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    Folder::remove(&folder).unwrap();
    assert_eq!(contents(&folder).into_keys().collect::<Vec<_>>(), ["notes.txt"]);
}

#[test]
fn a_cell_that_is_no_scenario_ends_the_sweep_and_names_itself() {
    let grid = Grid { axes: vec!["hop.0.up.rate=1mbit,fast".parse().unwrap()], seeds: (1..=70).collect() };
    let folder = Folder::open(&fresh("bad"), description(&grid)).unwrap();
    let error = run(&folder, Shard::WHOLE, 2, None).unwrap_err();
    assert!(matches!(&error, SweepError::Scenario { cell, .. } if cell == "hop.0.up.rate=fast"), "{error:?}");
    // The same again: the files before it are kept.
    assert!(folder.next_missing(0) > Some(0));
}

#[test]
fn seeds_are_ranges() {
    let ranges = Description::ranges(&[1, 2, 3, 7, 6, u64::MAX, 0]);
    assert_eq!(ranges, [[1, 3], [7, 7], [6, 6], [u64::MAX, u64::MAX], [0, 0]]);
    let grid = grid();
    assert_eq!(description(&grid).grid(), grid);
}
