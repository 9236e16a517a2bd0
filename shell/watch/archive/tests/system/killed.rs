//! A process that is killed at any moment, or whose disk is full, leaves nothing missing and
//! nothing twice.
use crate::objects::{objects, of_kind, samples, windows, windows_of};
use crate::past::{HOUR, Past, START, until};
use fathom_units::{Rng, WallTime};
use fathom_watch_archive::Sent;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The example `archive_child`.
fn child_program() -> PathBuf {
    let path = std::env::current_exe().unwrap().with_file_name("../examples/archive_child");
    assert!(path.exists(), "{}: cargo test builds it unless --test is given", path.display());
    path
}

#[test]
fn an_archiver_killed_at_any_moment_sends_everything_once() {
    let mut past = Past::new(6);
    past.record(START, START + 250 * HOUR);
    (0..50).for_each(|n| past.result(&format!("r{n}.json"), &vec![n; 10_000]));
    let folder = past.new_folder("disk");
    let (now, end) = (START + 250 * HOUR, START + 249 * HOUR);
    let mut rng = Rng::new(11);
    let (mut unfinished, mut stages) = (0, Vec::new());
    let is_complete = |sent: &Sent| sent.until == Some(WallTime(end));
    let is_temporary = |name: &str| name.ends_with(".tmp") || name.ends_with(".new");
    for _ in 0..50 {
        let mut child = Command::new(child_program())
            .arg("archive")
            .args([&past.dir(), &folder, &past.folder.path().join("results")])
            .arg(now.to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Some objects later, whatever the speed of this machine, and then at any moment.
        let wanted = stages.last().copied().unwrap_or(0) + rng.below(7);
        until("some objects", || past.sent("far").filter(|sent| sent.objects >= wanted || is_complete(sent)));
        std::thread::sleep(Duration::from_micros(rng.below(8_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        unfinished += usize::from(objects(&folder).keys().any(|key| is_temporary(key)));
        stages.push(past.sent("far").map_or(0, |sent| sent.objects));
        // What is there is complete.
        let all = objects(&folder);
        assert!(of_kind(&all, "samples/").all(|(_, bytes)| bytes.ends_with(b"PAR1")));
    }
    stages.dedup();
    assert!(unfinished > 5 && stages.len() > 25, "not killed at work: {unfinished}, {stages:?}");
    past.archive_to_folder("far", &folder, now, end);
    let all = objects(&folder);
    let truth = past.truth(0, end);
    assert!(samples(&all) == truth);
    assert!(windows(&all) == windows_of(&truth));
    let results: Vec<&Vec<u8>> = of_kind(&all, "runs/").map(|(_, bytes)| bytes).collect();
    assert_eq!(results.len(), 50);
    assert!(results.iter().all(|bytes| bytes.len() == 10_000));
    assert_eq!(all.len(), 249 * 2 + 50 + 1, "no temporary file is left: {:?}", all.keys());
    let left = std::fs::read_dir(past.dir()).unwrap().flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !is_temporary(name.to_str().unwrap())));
}

#[test]
fn a_full_disk_is_named_and_everything_is_sent_once_there_is_space() {
    fathom_test_support::require_namespaces();
    let mut past = Past::new(5);
    past.record(START, START + 9 * HOUR);
    let folder = past.new_folder("disk");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount -t tmpfs -o size=2m none \"$3\" && exec \"$0\" \"$@\""])
        .arg(child_program())
        .arg("full-disk")
        .args([&past.dir(), &folder, &past.folder.path().join("results")])
        .arg((START + 9 * HOUR).to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
