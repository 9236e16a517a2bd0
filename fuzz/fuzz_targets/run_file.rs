//! Run files: see the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/present/report/tests/it/run_file_bytes.rs"]
mod run_file_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| run_file_bytes::check(bytes));
