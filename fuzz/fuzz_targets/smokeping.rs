//! Fuzzes SmokePing configurations. A regular test runs the same check.
#![no_main]
#[path = "../../core/watch/import/tests/it/smokeping_bytes.rs"]
mod smokeping_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    smokeping_bytes::check(bytes);
});
