//! Fuzzes saved autorate state. A regular test runs the same check.
#![no_main]
#[path = "../../core/measure/shape/tests/it/autorate_bytes.rs"]
mod autorate_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| autorate_bytes::check(bytes));
