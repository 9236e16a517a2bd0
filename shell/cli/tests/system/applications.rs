//! `fathom test --app` over an emulated line: an application waits as long as the queue says.
use crate::program::{Words, fathom, on_slow_line, run, scratch};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Six connections of ten small objects: eleven round trips, one of them for the handshakes.
const PAGE: &str = r#"
[[workload]]
kind = "web"
connections = 6
objects = 10
bytes = "2000b"
interval = "1s"
[[workload]]
kind = "call"
"#;
const ROUND_TRIPS: f64 = 11.0;

/// 4 Mbit/s up behind 128 ms, 20 ms away.
const LINE: &str = r#"
name = "applications"
about = "x"
source = "this test"
[[hop]]
name = "modem"
up = { rate = "4mbit", delay = "10ms", queue = "fifo limit 64kb" }
down = { rate = "40mbit", delay = "10ms", queue = "fifo limit 64kb" }
"#;

fn written(name: &str, text: &str) -> PathBuf {
    let path = scratch().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The summary of a test with an upload over the line, with this queue.
fn summary(line: &Path, queue: &[&str]) -> Value {
    let (page, result) = (written("page.toml", PAGE), scratch().join("applications.json"));
    let (page, result) = (page.to_str().unwrap(), result.to_str().unwrap());
    let test = format!(
        "exec {} test $FATHOM_SERVER --app {page} --phases idle,up --max-phase 15s -q -o {result}",
        env!("CARGO_BIN_EXE_fathom")
    );
    let lab = [&["lab", "--line", line.to_str().unwrap()], queue, &["--", "sh", "-c", &test]].concat();
    let ran = fathom(&lab).output().unwrap();
    assert!(matches!(ran.status.code(), Some(0 | 1 | 4)), "{}", String::from_utf8_lossy(&ran.stderr));
    run(&["report", result, "--json"]).document()["summary"].clone()
}

/// A measure while idle and while uploading.
fn measure(summary: &Value, name: &str) -> [f64; 2] {
    let all = summary["applications"].as_array().unwrap();
    let found = all.iter().find(|one| one["measure"] == name).unwrap_or_else(|| panic!("{name}: {all:#?}"));
    let of = |phase: &str| found["phases"].as_array().unwrap().iter().find(|one| one["phase"] == phase);
    ["idle", "up"].map(|phase| of(phase).unwrap_or_else(|| panic!("{found:#?}"))["value"].as_f64().unwrap())
}

/// Median of the added delay on the uplink.
fn queue_s(summary: &Value) -> f64 {
    let phases = summary["phases"].as_array().unwrap();
    let up = phases.iter().find(|phase| phase["phase"] == "up").unwrap();
    up["increase_up_p50_s"].as_f64().unwrap()
}

#[test]
fn a_page_waits_a_queue_for_each_of_its_round_trips_and_not_beside_it() {
    let _slow = on_slow_line();
    let line = written("applications-line.toml", LINE);
    let bloated = summary(&line, &[]);
    let ([idle, loaded], queue) = (measure(&bloated, "page_load_p50_s"), queue_s(&bloated));
    assert!(queue > 0.05, "{queue}");
    // 20 ms each, and little more.
    assert!((0.22..0.35).contains(&idle), "{idle}");
    let expected = ROUND_TRIPS * queue;
    assert!((0.6 * expected..1.5 * expected).contains(&(loaded - idle)), "{idle} {loaded}, queue {queue}");
    let [call_idle, call_loaded] = measure(&bloated, "call_mos");
    assert!(call_idle > 4.2 && call_loaded < call_idle, "{call_idle} {call_loaded}");

    let managed = summary(&line, &["--queue", "fq_codel"]);
    let [before, beside] = measure(&managed, "page_load_p50_s");
    assert!(beside - before < 0.3 * expected, "{before} {beside}, of a page that would wait {expected}");
}

#[test]
fn names_and_files_that_are_no_applications() {
    let folder = scratch().join("applications");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("late.toml"), "[[workload]]\nkind = \"call\"\nstart = \"2s\"\n").unwrap();
    let mut words = Words::of("applications", &folder);
    for args in [
        ["--app", "radio"],
        ["--app", "web,vidoe"],
        ["--app", "backup"],
        ["--load-app", "game"],
        ["--app", "./late.toml"],
        ["--app", "./none.toml"],
    ] {
        words.run(&[&["test", "127.0.0.1:1"], &args[..]].concat(), 2);
    }
}
