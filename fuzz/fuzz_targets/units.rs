//! Fuzzes quantities with units. A regular test runs the same check.
#![no_main]
#[path = "../../core/model/scenario/tests/it/units_bytes.rs"]
mod units_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| units_bytes::check(bytes));
