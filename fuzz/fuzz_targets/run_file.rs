//! Fuzzes run files. A regular test runs the same check.
#![no_main]
#[path = "../../core/present/report/tests/it/run_file_bytes.rs"]
mod run_file_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| run_file_bytes::check(bytes));
