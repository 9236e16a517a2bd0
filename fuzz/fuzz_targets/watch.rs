//! Fuzzes watch configurations. A regular test runs the same check.
#![no_main]
#[path = "../../core/watch/plan/tests/it/watch_bytes.rs"]
mod watch_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| watch_bytes::check(bytes));
