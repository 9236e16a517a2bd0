//! Damaged and hostile files: an error or a valid run, never a panic.
use crate::bytes::check;
use crate::samples::{content, folder};
use fathom_import::{detect, import};
use std::path::Path;

#[test]
fn files_cut_at_any_byte() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let whole = content(entry.unwrap().file_name().to_str().unwrap());
        // Of large files, every thousandth byte.
        let step = if whole.len() > 20_000 { whole.len() / 100 } else { 1 + whole.len() / 2_000 };
        (0..whole.len()).step_by(step).for_each(|cut| check(&whole[..cut]));
        check(&whole);
    }
}

/// Numbers that a damaged file may hold.
const NUMBERS: [&str; 9] = [
    "0",
    "-1",
    "1e308",
    "9223372036854775808",
    "18446744073709551616",
    "-9e18",
    "0.0000001",
    "4294967296",
    "null",
];

/// Replaces each of some numbers of a text.
fn mutated(text: &str, mut test: impl FnMut(&str)) {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|(at, c)| c.is_ascii_digit() && !text[..*at].ends_with(is_number))
        .map(|(at, _)| at)
        .collect();
    let step = 1 + starts.len() / 60;
    for start in starts.into_iter().step_by(step) {
        let length = text[start..].find(|c| !is_number(c)).unwrap_or(text.len() - start);
        for number in NUMBERS {
            test(&format!("{}{number}{}", &text[..start], &text[start + length..]));
        }
    }
}

#[test]
fn any_number_may_be_wrong() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let whole = content(entry.unwrap().file_name().to_str().unwrap());
        let Ok(text) = String::from_utf8(whole) else { continue };
        if text.len() < 20_000 {
            mutated(&text, |damaged| check(damaged.as_bytes()));
        }
    }
}

#[test]
fn a_huge_gap_is_refused() {
    let lines = "h : [1], 64 bytes, 0.5 ms (0.5 avg, 0% loss)\nh : [9000000000000000000], 64 bytes, 0.5 ms (0.5 avg, 0% loss)\n";
    let error = import(detect(lines.as_bytes()).unwrap(), lines.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("4000000"), "{error}");
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/other_results");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().collect();
    assert!(files.len() >= 10, "{}", files.len());
    files.into_iter().for_each(|entry| check(&std::fs::read(entry.unwrap().path()).unwrap()));
}
