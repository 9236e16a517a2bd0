//! Integration tests of `fathom-text`, and the language lint of the whole project.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod language;

use fathom_text::{bytes, delay, milliseconds, percent, rate, seconds, thousands};
use std::path::PathBuf;

fn form(name: &str, value: f64) -> String {
    match name {
        "bytes" => bytes(value),
        "delay" => delay(value),
        "milliseconds" => milliseconds(value),
        "percent" => percent(value),
        "rate" => rate(value),
        "seconds" => seconds(value),
        "thousands" => thousands(value),
        other => panic!("golden/text.txt has an unknown form {other}"),
    }
}

#[test]
fn every_form_gives_the_text_of_the_golden_file() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/text.txt");
    let golden = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = golden.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() > 50, "{} rows", rows.len());
    for row in rows {
        let (name, rest) = row.split_once(' ').unwrap();
        let (value, text) = rest.split_once(" = ").unwrap();
        assert_eq!(form(name, value.parse().unwrap()), text, "{row}");
    }
}
