//! `fathom sim`, its sweep and its gallery, as a user runs them.
use crate::program::{Ran, run, scratch};
use std::path::PathBuf;

fn told(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.told());
    for word in words {
        assert!(ran.out.contains(word) || ran.err.contains(word), "\"{word}\" missing: {}", ran.told());
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.told());
}

/// A line of 3 Mbit/s and 100 ms of buffer, 20 ms away, with one upload of 8 s.
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
fn a_scenario_gives_a_result_a_verdict_and_its_claims() {
    let (scenario, json) = (small(), scratch().join("small.json").display().to_string());
    let ran = run(&["sim", &scenario, "-o", &json]);
    told(&ran, 1, &["Uploading makes this line slow", "a full buffer: 100 ms, here 1", "digest"]);
    let again = run(&["sim", &scenario, "-o", &json]);
    let digest = |one: &Ran| one.err.split("digest ").nth(1).map(|rest| rest[..16].to_owned());
    assert_eq!(digest(&ran), digest(&again));
    // The file is a result like any other.
    told(&run(&["report", &json]), 1, &["Uploading makes this line slow"]);
    told(&run(&["sim", &scenario, "--queue", "fq_codel target 10ms"]), 0, &["stays responsive"]);
    told(&run(&["sim", &scenario, "--set", "hop.modem.up.rate=6mbit"]), 0, &["stays responsive"]);
}

#[test]
fn the_line_of_a_result_with_another_queue() {
    let (scenario, json) = (small(), scratch().join("from.json").display().to_string());
    run(&["sim", &scenario, "-o", &json]);
    let ran = run(&["sim", "--from", &json, "--with", "cake@95%"]);
    told(&ran, 0, &["fitted up: 2.9", "a buffer of 3", "cake@95%"]);
    for (with, word) in [("cake@0%", "1% to 100%"), ("cak", "unknown queue discipline"), ("cake@x", "ratio")]
    {
        told(&run(&["sim", "--from", &json, "--with", with]), 2, &[with, word]);
    }
    told(&run(&["sim", "--from", "/no/such.json"]), 2, &["/no/such.json"]);
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
    told(&sweep("1", &one, &[]), 0, &["12 cells", "12 rows"]);
    told(&sweep("2", &two, &["-o", &parquet, "-o", &page]), 0, &["12 rows", "two.parquet", "two.html"]);
    let text = std::fs::read_to_string(&one).unwrap();
    assert_eq!(text, std::fs::read_to_string(&two).unwrap());
    assert!(text.starts_with("queue,hop.modem.up.rate,seed,udp_rtt_s p50 while idle,"), "{text}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
}

#[test]
fn what_a_sweep_refuses() {
    let scenario = small();
    let sweep = |more: &[&str]| run(&[&["sim", "sweep", &scenario, "-o", "/dev/full/x.csv"], more].concat());
    told(&sweep(&["--vary", "hop.modem.up.rate=1mbit"]), 3, &["/dev/full/x.csv"]);
    told(&sweep(&["--vary", "hop.modem.up.rate=1mbit..2mbit"]), 2, &["how many values"]);
    told(&sweep(&["--vary", "hop.modm.up.rate=1mbit"]), 2, &["modm"]);
    told(&sweep(&["--vary", "queue=fastest"]), 2, &["fastest"]);
    told(&sweep(&["--seeds", "9..1"]), 2, &["9..1"]);
    told(&sweep(&["--shard", "4/4"]), 2, &["4/4"]);
    told(&sweep(&["--measure", "ping max"]), 2, &["ping"]);
    // A month of packets are said before they are begun.
    let long = ["--vary", "hop.modem.up.rate=1gbit..10gbit/1000", "--seeds", "1..1000"];
    told(&sweep(&long), 2, &["days", "--yes"]);
}

#[test]
fn what_a_simulation_refuses() {
    let with = |from: &str, to: &str| {
        let path = file("sim-bad.toml", &SMALL.replace(from, to));
        run(&["sim", &path.display().to_string()])
    };
    let cases = [
        ("3mbit", "3", ["sim-bad.toml:7", "no unit"]),
        ("3mbit", "0mbit", ["sim-bad.toml:7", "rate"]),
        ("limit 37500b", "limit 0b", ["sim-bad.toml:7", "0b"]),
        ("up_flows = 1", "up_flow = 1", ["sim-bad.toml:10", "up_flows"]),
        ("up_flows = 1", "up_flows = 0", ["sim-bad.toml:9", "up_flows"]),
        ("udp_rtt_s max", "ping max", ["sim-bad.toml:15", "ping"]),
        ("[[hop]]", "[[hops]]", ["sim-bad.toml:5", "hop"]),
    ];
    for (from, to, words) in cases {
        told(&with(from, to), 2, &words);
    }
    told(&run(&["sim", "no-such-line"]), 2, &["no-such-line"]);
    told(&run(&["sim"]), 2, &["SCENARIO"]);
}

/// The whole gallery: every claim comes out.
#[test]
fn every_claim_of_the_gallery_comes_out() {
    let folder = scratch().join("gallery").display().to_string();
    let ran = run(&["sim", "gallery", "--output-dir", &folder]);
    let missed: Vec<&str> =
        ran.out.lines().filter(|line| line.contains("NO ") || line.contains('✗')).collect();
    assert_eq!(missed, [""; 0], "{}", ran.told());
    told(&ran, 0, &["claims come out"]);
    let page = std::fs::read_to_string(format!("{folder}/index.html")).unwrap();
    assert!(page.matches("<article").count() >= 25);
    told(&run(&["sim", "gallery", "no-such"]), 2, &["no-such", "seifried-2011"]);
}
