//! The page in a real headless Chromium, operated like by a person. Fails if Chromium is missing.
use crate::{serving, serving_many};
use fathom_web::Server;
use std::path::PathBuf;
use std::process::Command;

fn check(work: &str, server: &Server) {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/check/fleet.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(work).arg(format!("http://{}", server.address));
    // Saves screenshots for inspection.
    command.args(std::env::var_os("FATHOM_PICTURES"));
    let ran = command.output().unwrap_or_else(|error| panic!("node is needed: {error}; try ./setup"));
    let output = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{work}:\n{output}");
}

#[test]
fn forty_sites_are_seen_in_all_views() {
    check("views", &serving(40));
}

#[test]
fn thirty_thousand_sites_are_a_density() {
    check("many", &serving(30_000));
}

#[test]
fn a_million_sites_are_a_density() {
    check("million", &serving_many(1_000_000));
}

#[test]
fn a_fleet_without_sites_says_so() {
    check("empty", &serving(0));
}
