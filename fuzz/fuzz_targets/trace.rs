//! Fuzzes capture analysis. A regular test runs the same check.
#![no_main]
#[path = "../../core/analyze/capture-run/tests/it/trace_bytes.rs"]
mod trace_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    trace_bytes::check(bytes);
    trace_bytes::check_shards(bytes);
});
