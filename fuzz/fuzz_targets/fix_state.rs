//! Fuzzes rollback state. A regular test runs the same check.
#![no_main]
#[path = "../../shell/host/shaper/tests/system/state_bytes.rs"]
mod state_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| state_bytes::check(bytes));
