//! Tests of `fathom sim`, its sweep and its gallery.
use crate::program::{Ran, Words, run, scratch};
use std::path::PathBuf;

/// A line of 3 Mbit/s with a buffer of 100 ms and a base round-trip time of 20 ms, with one upload
/// of 8 s.
const SMALL: &str = r#"
name = "small"
about = "A small one"
source = "this test"
[[hop]]
name = "modem"
up = { rate = "3mbit", delay = "10ms", queue = "fifo limit 37500b" }
down = { rate = "50mbit", delay = "10ms" }
[load]
up_flows = 1
duration = "8s"
[[claim]]
says = "a full buffer"
published = "100 ms"
measure = "udp_rtt_s max while up"
expected = ["115ms", "130ms"]
"#;

fn file(name: &str, text: &str) -> PathBuf {
    let path = scratch().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn small() -> String {
    file("sim-small.toml", SMALL).display().to_string()
}

#[test]
fn a_scenario_has_a_result_a_verdict_and_its_claims() {
    small();
    let mut words = Words::of("sim", &scratch());
    let ran = words.run(&["sim", "sim-small.toml", "-o", "small.json"], 1);
    let again = run(&["sim", "sim-small.toml", "-o", "small.json"]);
    let digest = |one: &Ran| one.err.split("digest ").nth(1).map(|rest| rest[..16].to_owned());
    assert!(digest(&ran).is_some() && digest(&ran) == digest(&again));
    // The file is a normal result.
    words.run(&["report", "small.json"], 1);
    words.run(&["sim", "sim-small.toml", "--queue", "fq_codel target 10ms"], 0);
    words.run(&["sim", "sim-small.toml", "--set", "hop.modem.up.rate=6mbit"], 0);
}

#[test]
fn the_line_of_a_result_with_another_queue() {
    let (scenario, json) = (small(), scratch().join("from.json").display().to_string());
    run(&["sim", &scenario, "-o", &json]);
    let mut words = Words::of("sim-from", &scratch());
    words.run(&["sim", "--from", "from.json", "--with", "cake@95%"], 0);
    for with in ["cake@0%", "cak", "cake@x"] {
        words.run(&["sim", "--from", "from.json", "--with", with], 2);
    }
    words.run(&["sim", "--from", "/no/such.json"], 2);
}

#[test]
fn a_sweep_makes_one_table_whatever_the_threads() {
    let (scenario, table) = (small(), |name: &str| scratch().join(name).display().to_string());
    let sweep = |jobs: &str, csv: &str, more: &[&str]| {
        let _ = std::fs::remove_file(csv);
        let mut args = vec!["sim", "sweep", &scenario, "--vary", "queue=fifo limit 37500b,codel", "--vary"];
        args.extend(["hop.modem.up.rate=2mbit..4mbit/3", "--seeds", "1..2", "--jobs", jobs, "-o", csv]);
        args.extend(more);
        run(&args)
    };
    let (one, two) = (table("one.csv"), table("two.csv"));
    let (parquet, page) = (table("two.parquet"), table("two.html"));
    let more = ["-o", parquet.as_str(), "-o", page.as_str()];
    assert_eq!([sweep("1", &one, &[]).code, sweep("2", &two, &more).code], [Some(0); 2]);
    let text = std::fs::read_to_string(&one).unwrap();
    assert_eq!(text, std::fs::read_to_string(&two).unwrap());
    assert_eq!(text.lines().count(), 1 + 12, "{text}");
    assert!(text.starts_with("queue,hop.modem.up.rate,seed,udp_rtt_s p50 while idle,"), "{text}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
}

#[test]
fn errors_of_a_sweep() {
    small();
    let mut words = Words::of("sim-sweep-refusals", &scratch());
    let mut sweep = |code: i32, more: &[&str]| {
        words.run(&[&["sim", "sweep", "sim-small.toml", "-o", "/dev/full/x.csv"], more].concat(), code);
    };
    sweep(3, &["--vary", "hop.modem.up.rate=1mbit"]);
    sweep(2, &["--vary", "hop.modem.up.rate=1mbit..2mbit"]);
    sweep(2, &["--vary", "hop.modm.up.rate=1mbit"]);
    sweep(2, &["--vary", "queue=fastest"]);
    sweep(2, &["--seeds", "9..1"]);
    sweep(2, &["--shard", "4/4"]);
    sweep(2, &["--measure", "ping max"]);
    // A sweep of a month is refused before it starts. The estimate depends on the machine.
    let long = ["--vary", "hop.modem.up.rate=1gbit..10gbit/1000", "--seeds", "1..1000"];
    let ran = run(&[&["sim", "sweep", "sim-small.toml", "-o", "x.csv"], &long[..]].concat());
    assert!(ran.code == Some(2) && ran.err.contains("--yes"), "{}", ran.describe());
}

#[test]
fn errors_of_a_simulation() {
    let mut words = Words::of("sim-refusals", &scratch());
    let cases = [
        ("3mbit", "3"),
        ("3mbit", "0mbit"),
        ("limit 37500b", "limit 0b"),
        ("up_flows = 1", "up_flow = 1"),
        ("up_flows = 1", "up_flows = 0"),
        ("udp_rtt_s max", "ping max"),
        ("[[hop]]", "[[hops]]"),
    ];
    for (from, to) in cases {
        file("sim-bad.toml", &SMALL.replace(from, to));
        words.run(&["sim", "sim-bad.toml"], 2);
    }
    words.run(&["sim", "no-such-line"], 2);
    words.run(&["sim"], 2);
}

/// Every claim of the gallery holds.
#[test]
fn every_claim_of_the_gallery_holds() {
    let folder = scratch().join("gallery").display().to_string();
    let ran = run(&["sim", "gallery", "--json", "--output-dir", &folder]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    let gallery = &ran.document()["gallery"];
    assert_eq!(gallery["held"], gallery["claims"], "{gallery:#}");
    let page = std::fs::read_to_string(format!("{folder}/index.html")).unwrap();
    assert!(page.matches("<article").count() >= 25);
    assert_eq!(run(&["sim", "gallery", "no-such"]).code, Some(2));
}
