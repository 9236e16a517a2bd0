//! The page in a real headless Chromium, operated like by a person. Fails if Chromium is missing.
use crate::synthetic::Made;
use fathom_watch_web::serve;
use fathom_web::{Server, WebConfig};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The page uses the current time, so the history ends now.
fn serving(targets: u32) -> Server {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    // Only the path to a single target is looked at.
    let made = Made { targets, hops: if targets == 1 { 4 } else { 0 }, now_s };
    let config = WebConfig { listen: "127.0.0.1:0".parse().unwrap(), ..WebConfig::default() };
    serve(&config, Arc::new(made), Box::new(move || Ok(Box::new(made)))).unwrap()
}

fn check(work: &str, targets: u32) {
    let server = serving(targets);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/check/watch.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(work).arg(format!("http://{}", server.address));
    // Saves screenshots for inspection.
    command.args(std::env::var_os("FATHOM_PICTURES"));
    let ran = command.output().unwrap_or_else(|error| panic!("node is needed: {error}; try ./setup"));
    let output = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{work} of {targets} targets:\n{output}");
    println!("{output}");
}

#[test]
fn an_empty_store_shows_how_to_start() {
    check("empty", 0);
}

#[test]
fn one_target_is_seen_zoomed_and_compared() {
    check("detail", 1);
}

#[test]
fn five_hundred_targets_are_seen_filtered_and_chosen() {
    check("overview", 500);
}

#[test]
fn findings_of_months_are_below_the_targets() {
    check("findings", 2);
}

#[test]
fn a_target_that_is_down_is_seen_to_be_down() {
    check("down", 5);
}
