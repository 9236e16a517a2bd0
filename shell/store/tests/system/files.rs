//! Valid, damaged and foreign files, and full disks.
use crate::line::{BLOATED, Line};
use fathom_run::{DelayedParty, Fact, Run};
use fathom_store::{StoreError, default_name, load, load_any, save, write};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary directory.
struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        Dir(tempfile::tempdir().expect("the temporary directory can be written"))
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn run() -> Run {
    Line { phase_s: 1.0, loss_ratio: 0.05, ..BLOATED }.run()
}

fn message(path: &Path) -> String {
    load(path).map(|_| ()).expect_err("the file is damaged").to_string()
}

#[test]
fn what_is_saved_is_loaded() {
    let dir = Dir::new();
    for name in ["run.json", "run.json.gz", "RUN.JSON.GZ"] {
        let path = dir.file(name);
        save(&path, &run()).unwrap();
        assert!(load(&path).unwrap() == run(), "{name}");
    }
    let (plain, packed) =
        (fs::read(dir.file("run.json")).unwrap(), fs::read(dir.file("run.json.gz")).unwrap());
    assert!(
        packed.starts_with(&[0x1f, 0x8b]) && packed.len() * 3 < plain.len(),
        "{} {}",
        packed.len(),
        plain.len()
    );
    // The content decides, not the name: a compressed file with a plain name is read too.
    fs::rename(dir.file("run.json.gz"), dir.file("other.json")).unwrap();
    assert!(load(&dir.file("other.json")).unwrap() == run());
}

/// A result of two captures of a lab, as written by a program of schema version 1.
#[test]
fn a_result_of_schema_version_1_is_read_in_the_form_of_today() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/results/v1-trace.json.gz");
    let run = load(&path).unwrap();
    assert_eq!(run.schema_version, fathom_run::SCHEMA_VERSION);
    let capture = run.capture.as_deref().unwrap();
    let [queue] = capture.queues.as_slice() else { panic!("{:?}", capture.queues) };
    let delay = queue.delay;
    assert!(0.3 < delay.median_s && delay.median_s <= delay.p90_s, "{delay:?}");
    assert!(delay.p90_s == delay.p95_s && delay.p95_s <= delay.max_s, "it had no 90th percentile: {delay:?}");
    let parts: Vec<String> = queue.elsewhere.iter().map(|other| other.part.to_string()).collect();
    assert!(parts.contains(&"198.18.0.2 to capture".into()), "{parts:?}");
    let [first, short] = queue.delayed.as_slice() else { panic!("{:?}", queue.delayed) };
    assert!(matches!(first.who, DelayedParty::Flow { number: 1.., ends: Some(_) }), "{first:?}");
    assert!(matches!(short.who, DelayedParty::ShortFlows { count: 1.. }), "{short:?}");
    let share = queue.filled_by.first().unwrap();
    assert!(share.flow > 0 && share.bytes_ratio > 0.5, "{share:?}");
    assert!(queue.management.is_some() && queue.delay_at_loss.is_some());
    assert_eq!(queue.alternatives.len(), 3);
    assert!(capture.hops.iter().all(|hop| hop.delay.is_some()), "{:?}", capture.hops);
    let dir = Dir::new();
    save(&dir.file("again.json"), &run).unwrap();
    assert!(load(&dir.file("again.json")).unwrap() == run, "what was converted can be written and read");
}

#[test]
fn damaged_files_get_one_clear_line() {
    let dir = Dir::new();
    let good = serde_json::to_string(&run()).unwrap();
    save(&dir.file("good.json.gz"), &run()).unwrap();
    let packed = fs::read(dir.file("good.json.gz")).unwrap();
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 0x55;
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("empty.json", Vec::new(), "is truncated"),
        ("cut.json", good.as_bytes()[..good.len() / 2].to_vec(), "is truncated"),
        ("cut.json.gz", packed[..packed.len() / 2].to_vec(), "is truncated"),
        ("flipped.json.gz", flipped, "flipped.json.gz"),
        ("text.json", b"hello".to_vec(), "is not a run file"),
        (
            "newer.json",
            good.replace("\"schema_version\":2", "\"schema_version\":9").into(),
            "schema_version 9",
        ),
        ("binary.json", vec![0xff; 1000], "is not a run file"),
        ("columns.json", good.replacen("\"at_ns\":[", "\"at_ns\":[0,", 1).into(), "times, but"),
    ];
    for (name, bytes, want) in cases {
        let path = dir.file(name);
        fs::write(&path, bytes).unwrap();
        let line = message(&path);
        assert!(line.contains(want) && line.contains(name), "{line:?} does not say {want:?}");
        assert_eq!(line.lines().count(), 1, "{line:?}");
    }
    assert!(message(&dir.file("absent.json")).ends_with("absent.json: No such file or directory"));
    assert!(message(dir.0.path()).contains("cannot read"), "a directory");
}

#[test]
fn a_failed_save_leaves_the_old_file_and_no_rest() {
    let dir = Dir::new();
    let path = dir.file("run.json");
    save(&path, &run()).unwrap();
    let kept_name = format!("fathom-kept-{}.json", std::process::id());
    let error = save(&dir.file("absent").join(&kept_name), &run()).unwrap_err();
    let text = error.to_string();
    let StoreError::Write { needed, rescued: Some(kept), .. } = error else { panic!("{text}") };
    assert!(needed > 1000 && text.contains("No such file or directory. The run was saved in "), "{text}");
    let rescued = load(&kept);
    fs::remove_file(&kept).unwrap();
    assert!(rescued.unwrap() == run());
    // With a directory in the way, the rename fails after the temporary file was written.
    fs::create_dir(dir.file("taken.json")).unwrap();
    fs::write(dir.file("taken.json").join("x"), "").unwrap();
    assert!(write(&dir.file("taken.json"), "text").is_err());
    let left: Vec<String> = fs::read_dir(dir.0.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.iter().all(|n| !n.contains("unfinished")), "{left:?}");
    assert!(load(&path).unwrap() == run());
}

#[test]
fn a_full_device_is_told() {
    let error = write(Path::new("/dev/full"), &"x".repeat(100_000)).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot write /dev/full (100000 bytes needed): No space left on device. Try another directory"
    );
}

#[test]
fn names() {
    let cases = [
        ("test", "2026-11-20T14:10:00Z", "fathom-test-2026-11-20T141000Z.json.gz"),
        ("demo", "2026-11-20T14:10:00.123456Z", "fathom-demo-2026-11-20T141000Z.json.gz"),
        ("../x", "/etc/passwd", "fathom-x-etcpasswdZ.json.gz"),
    ];
    for (command, started, name) in cases {
        assert_eq!(default_name(command, started), name);
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import").join(name)
}

#[test]
fn results_of_other_tools_are_read_packed_and_not() {
    for (name, tool) in [
        ("crusader.crr", "crusader 0.3.3-dev"),
        ("rrul_be.flent.gz", "flent 2.3.0"),
        ("irtt-idle.json.gz", "irtt 0.9.0"),
        ("ping-linux.txt", "ping"),
    ] {
        let run = load_any(&sample(name)).unwrap();
        assert_eq!((run.command.as_str(), run.facts[&Fact::Tool].as_str()), ("import", tool));
        // What reads only results of Fathom refuses them.
        assert!(load(&sample(name)).is_err(), "{name}");
    }
}

#[test]
fn what_no_tool_wrote_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |content: &[u8]| {
        let path = folder.path().join("other");
        fs::write(&path, content).unwrap();
        load_any(&path).unwrap_err()
    };
    let html = refused(b"<!DOCTYPE html><html></html>");
    assert!(matches!(html, StoreError::Unknown { .. }) && html.to_string().contains("iperf3"), "{html}");
    assert!(matches!(refused(b"\xd4\xc3\xb2\xa1\x02\x00"), StoreError::Unknown { .. }));
    assert!(matches!(refused(b"{}"), StoreError::Unknown { .. }));
    // A result of Fathom keeps its own error.
    let own = refused(br#"{"schema_version": 2, "command": 7}"#);
    assert!(matches!(own, StoreError::Run { .. }), "{own}");
    let newer = refused(br#"{"schema_version": 99}"#);
    assert!(newer.to_string().contains("99"), "{newer}");
    let packed = fs::read(sample("rrul_be.flent.gz")).unwrap();
    let cut = refused(&packed[..packed.len() / 2]);
    assert!(cut.to_string().contains("truncated"), "{cut}");
    let crusader = fs::read(sample("crusader.crr")).unwrap();
    assert!(matches!(
        refused(&crusader[..crusader.len() / 2]),
        StoreError::Read { .. } | StoreError::Import { .. }
    ));
    assert!(matches!(refused(&crusader[..10]), StoreError::Read { .. } | StoreError::Import { .. }));
}
