//! Processes started by the tests. `archive HISTORY FOLDER RESULTS NOW_NS` archives a history to a
//! folder until it is killed. `full-disk HISTORY FOLDER RESULTS NOW_NS` runs on a small file system
//! mounted at FOLDER, and exits with an error if a check fails.
use fathom_units::WallTime;
use fathom_watch_archive::{Archive, Archiver, Hops, Store, progress};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, history, folder, results, now] = &arguments[..] else {
        panic!("usage: see the first lines of this example")
    };
    let now = WallTime(now.parse().expect("a number of nanoseconds"));
    let archive = Archive {
        name: "far".into(),
        to: Store::Folder(folder.into()),
        site: "berlin".into(),
        labels: Vec::new(),
        hops: Hops::none(),
        results: Some(results.into()),
    };
    let start = || Archiver::start_with_clock(archive, Path::new(history), Arc::new(move || now));
    match command.as_str() {
        "archive" => {
            let _running = start();
            loop {
                std::thread::park();
            }
        }
        "full-disk" => full_disk(Path::new(history), Path::new(folder), start),
        other => panic!("{other}: see the first lines of this example"),
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    fathom_test_support::until(what, Duration::from_secs(60), || is_so().then_some(()));
}

/// A full disk is named; once there is space, everything is sent.
fn full_disk(history: &Path, folder: &Path, start: impl FnOnce() -> Archiver) {
    let filler = folder.join("filler");
    let mut size = 1 << 20;
    while fs::write(&filler, vec![1; size]).is_ok() {
        size += 1 << 14;
    }
    fs::write(&filler, vec![1; size - (1 << 15)]).expect("it was as large");
    let running = start();
    let mut notes = Vec::new();
    let mut has_note = |text: &str| {
        notes.extend(running.notes().into_iter().map(|note| note.text));
        notes.iter().any(|note| note.contains(text))
    };
    until("a full disk", || has_note("No space left on device: free some space. Will retry"));
    fs::remove_file(&filler).expect("it is there");
    until("the end of the outage", || has_note("reachable again"));
    let objects = || progress(history).pop().and_then(|one| one.sent.ok()).map_or(0, |sent| sent.objects);
    until("all objects", || objects() == 1 + 2 * 8);
    running.stop();
    let left = fs::read_dir(folder).expect("it is there").flatten();
    assert!(left.into_iter().all(|entry| entry.path().is_dir()), "a temporary file is left");
}
