//! Fuzzes buffer arithmetic. A regular test runs the same check.
#![no_main]
#[path = "../../core/analyze/size/tests/it/question_bytes.rs"]
mod question_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| question_bytes::check(bytes));
