//! Fuzzes scenario files. A regular test runs the same check.
#![no_main]
#[path = "../../core/model/scenario/tests/it/scenario_bytes.rs"]
mod scenario_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario_bytes::check(bytes));
