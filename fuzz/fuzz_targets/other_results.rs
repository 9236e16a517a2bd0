//! Fuzzes results of other tools. A regular test runs the same check.
#![no_main]
#[path = "../../core/measure/import/tests/it/bytes.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bytes::check(data));
